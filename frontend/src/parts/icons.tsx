/** Drawn here so that the page loads nothing for them. All are decoration: the words stand beside them. */

import type { ComponentChildren } from "preact";

function Icon({ children, size = 16 }: { readonly children: ComponentChildren; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const Mark = () => (
  <svg class="mark" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="7" />
    <path d="M16 6.5v18M11 11.5h10M7 18c.6 4.6 4.4 7 9 7s8.4-2.4 9-7" />
    <circle cx="16" cy="7.5" r="2.2" />
  </svg>
);

export const Chevron = () => (
  <Icon>
    <path d="M6 4l4 4-4 4" />
  </Icon>
);
export const Check = () => (
  <Icon>
    <path d="M3.5 8.5l3 3 6-7" />
  </Icon>
);
export const Dash = () => (
  <Icon>
    <path d="M5 8h6" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon size={14}>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 3.5v-.5a1 1 0 0 0-1-1H3.5a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1H4" />
  </Icon>
);
export const Cross = () => (
  <Icon>
    <path d="M4 4l8 8M12 4l-8 8" />
  </Icon>
);
export const Search = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.2" />
    <path d="M10.2 10.2L14 14" />
  </Icon>
);
export const Turn = () => (
  <Icon size={14}>
    <path d="M13 8a5 5 0 1 1-1.6-3.7M13.5 2v3h-3" />
  </Icon>
);
