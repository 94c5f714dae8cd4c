/** Everything the pages show, as signals. Only this module and `live` write them. */

import { computed, signal } from "@preact/signals";

import { api, ApiError } from "./api";
import { KEPT, take } from "./model/calls";
import type { Call, Failure, Project, Server, Tool } from "./model/rows";
import { needsYou } from "./model/servers";

/** `opening`: nothing known yet. `lost`: what is shown is old. `signed-out`: no session, or no longer. */
export type Link = "opening" | "live" | "lost" | "signed-out";

export const link = signal<Link>("opening");
export const project = signal<Project | null>(null);
export const servers = signal<readonly Server[] | null>(null);
export const calls = signal<readonly Call[] | null>(null);
export const trouble = signal<Failure | null>(null);

export const profile = signal("default");
export const tools = signal<readonly Tool[] | null>(null);
export const toolsTrouble = signal<Failure | null>(null);

/** Restarts under way and what became of those that failed, by server. */
export const restarts = signal<ReadonlyMap<string, "busy" | Failure>>(new Map());

/** Ticks every second while the page is visible: ages and running calls read it. */
export const now = signal(Date.now());

export const attention = computed(() => (servers.value ?? []).filter(needsYou).length);

export async function loadState(): Promise<void> {
  await guarded(trouble, async () => {
    const state = await api.state();
    project.value = state.project;
    servers.value = state.servers;
  });
}

export async function loadCalls(): Promise<void> {
  await guarded(trouble, async () => {
    calls.value = (await api.calls(KEPT)).calls;
  });
}

export async function loadTools(): Promise<void> {
  const asked = profile.value;
  await guarded(toolsTrouble, async () => {
    const answer = await api.tools(asked);
    if (asked === profile.value) tools.value = answer.tools;
  });
}

export function chooseProfile(name: string): void {
  if (name === profile.value) return;
  profile.value = name;
  tools.value = null;
  void loadTools();
}

export function takeCalls(rows: readonly Call[]): void {
  calls.value = take(calls.value ?? [], rows);
}

export async function restart(name: string): Promise<void> {
  noteRestart(name, "busy");
  try {
    await api.restart(name);
    noteRestart(name, null);
  } catch (error) {
    noteRestart(name, failure(error));
  }
  await loadState();
}

function noteRestart(name: string, came: "busy" | Failure | null): void {
  const next = new Map(restarts.value);
  if (came === null) next.delete(name);
  else next.set(name, came);
  restarts.value = next;
}

async function guarded(into: typeof trouble, load: () => Promise<void>): Promise<void> {
  try {
    await load();
    into.value = null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) link.value = "signed-out";
    else into.value = failure(error);
  }
}

function failure(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure;
  return { code: "console.unexpected", message: "The console met something it did not expect.", remedy: "" };
}
