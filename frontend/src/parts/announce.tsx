/** The one place from which a screen reader is told of what changed elsewhere on the page. */

import { signal } from "@preact/signals";

const words = signal("");

export function announce(text: string): void {
  // The same words twice would not be read twice.
  words.value = "";
  setTimeout(() => (words.value = text), 50);
}

export function Announcer() {
  return (
    <div class="said" role="status">
      {words.value}
    </div>
  );
}
