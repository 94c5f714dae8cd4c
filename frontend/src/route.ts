/** Where the person is: `#/calls?server=time`. The address is the only state that a page shares with the next visit. */

import { signal } from "@preact/signals";

import { inAddress } from "./model/text";

export const PAGES = ["servers", "tools", "calls"] as const;
export type Page = (typeof PAGES)[number];

export interface Route {
  readonly page: Page;
  readonly server: string;
}

export const route = signal<Route>(read());

export function href(page: Page, server = ""): string {
  return server === "" ? `#/${page}` : `#/${page}?server=${inAddress(server)}`;
}

/** Take the address in force from now on, and hide a used one-time link from history. */
export function follow(): void {
  if (location.pathname !== "/") history.replaceState(null, "", `/${location.hash}`);
  addEventListener("hashchange", () => {
    route.value = read();
    scrollTo(0, 0);
  });
}

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const page = PAGES.find((name) => name === path) ?? "servers";
  return { page, server: new URLSearchParams(query).get("server") ?? "" };
}
