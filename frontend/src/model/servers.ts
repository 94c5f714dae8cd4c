/** What a server's state means to the person looking at it. */

import type { Server, ServerState } from "./rows";

export type Tone = "good" | "busy" | "calm" | "warn" | "bad";

interface Meaning {
  readonly label: string;
  readonly tone: Tone;
  /** Shown when the gateway gives no sentence of its own. */
  readonly says: string;
}

export const MEANINGS: Readonly<Record<ServerState, Meaning>> = {
  ready: { label: "Ready", tone: "good", says: "" },
  starting: { label: "Starting", tone: "busy", says: "" },
  stopped: { label: "Stopped", tone: "calm", says: "" },
  failed: { label: "Failed", tone: "bad", says: "It did not start, or it ended." },
  untrusted: { label: "Untrusted", tone: "warn", says: "You have not agreed to what it runs." },
  withheld: { label: "Withheld", tone: "warn", says: "What it needs is not on this machine." },
  disabled: { label: "Disabled", tone: "calm", says: "" },
  fault: { label: "Fault", tone: "bad", says: "It cannot be started as it is configured." },
};

/** An unknown state is shown as it is called, and as one that needs a look. */
export function meaning(state: string): Meaning {
  return isState(state) ? MEANINGS[state] : { label: state, tone: "warn", says: "" };
}

function isState(state: string): state is ServerState {
  return Object.hasOwn(MEANINGS, state);
}

export function needsYou(server: Server): boolean {
  const { tone } = meaning(server.state);
  return tone === "warn" || tone === "bad";
}

/** Whether its tools are kept from every agent now, whatever is granted. A failed server is tried again at a call. */
export function isWithheld(server: Server): boolean {
  return ["untrusted", "withheld", "disabled", "fault"].includes(server.state);
}

/** Whether starting it anew can help; for the others the remedy is elsewhere. */
export function canRestart(server: Server): boolean {
  return ["ready", "starting", "stopped", "failed"].includes(server.state);
}

export type ServerFilter = "all" | "serving" | "attention" | "off";

export function serverPasses(server: Server, filter: ServerFilter): boolean {
  if (filter === "all") return true;
  if (filter === "attention") return needsYou(server);
  if (filter === "off") return server.state === "disabled";
  return !needsYou(server) && server.state !== "disabled";
}
