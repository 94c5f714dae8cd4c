/** The controls of the three pages: filters, search, rows that open. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

import { href, type Page } from "../route";
import { Chevron, Cross, Search } from "./icons";

interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly count?: number;
}

export function Choices<T extends string>(props: {
  readonly label: string;
  readonly of: readonly Choice<T>[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}) {
  return (
    <div class="choices" role="group" aria-label={props.label}>
      {props.of.map((choice) => (
        <button
          type="button"
          key={choice.value}
          aria-pressed={choice.value === props.value}
          onClick={() => props.onChoose(choice.value)}
        >
          {choice.label}
          {choice.count !== undefined && <span class="count">{choice.count.toLocaleString("en")}</span>}
        </button>
      ))}
    </div>
  );
}

export function SearchBox(props: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <label class="search">
      <Search />
      <span class="said">{props.label}</span>
      <input
        type="search"
        placeholder={props.label}
        value={props.value}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => props.onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && props.value !== "") props.onInput("");
        }}
      />
    </label>
  );
}

export function Select(props: {
  readonly label: string;
  readonly value: string;
  readonly of: readonly { readonly value: string; readonly label: string }[];
  readonly onChoose: (value: string) => void;
}) {
  return (
    <label class="select">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChoose(event.currentTarget.value)}>
        {props.of.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Chevron />
    </label>
  );
}

/** A filter that came with the address: shown, and taken off with one press. */
export function Chip({ children, page }: { readonly children: ComponentChildren; readonly page: Page }) {
  return (
    <a class="chip" href={href(page)} title="Show all servers">
      <span class="said">Only</span>
      {children}
      <Cross />
      <span class="said">Show all servers</span>
    </a>
  );
}

/** A row whose head is one button. Arrow keys move between the heads of a list (`onRowKeys`). */
export function Row(props: {
  readonly class: string;
  readonly open: boolean;
  readonly onToggle: () => void;
  readonly head: ComponentChildren;
  readonly below?: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly data?: Readonly<Record<`data-${string}`, string | boolean>>;
}) {
  const id = useId();
  return (
    <li class={`row ${props.class}`} {...props.data}>
      <button type="button" class="head" aria-expanded={props.open} aria-controls={id} onClick={props.onToggle}>
        {props.head}
        <span class="turner">
          <Chevron />
        </span>
      </button>
      {props.below}
      <div class="body" id={id} hidden={!props.open}>
        {props.open && props.children}
      </div>
    </li>
  );
}

/** Up and Down, Home and End go from head to head; Escape closes the one in focus. */
export function onRowKeys(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const steps: Record<string, (at: number, last: number) => number> = {
    ArrowDown: (at, last) => Math.min(at + 1, last),
    ArrowUp: (at) => Math.max(at - 1, 0),
    Home: () => 0,
    End: (_, last) => last,
  };
  const step = steps[event.key];
  const heads = [...event.currentTarget.querySelectorAll<HTMLElement>(".head")];
  const at = heads.findIndex((head) => head === document.activeElement);
  if (at < 0) return;
  if (step) {
    event.preventDefault();
    heads[step(at, heads.length - 1)]?.focus();
  } else if (event.key === "Escape" && heads[at]?.ariaExpanded === "true") heads[at]?.click();
}

/** Label and value pairs; those without a value are left out. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== "" && value !== null && value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
