/** Keeps the store true: reads everything when the stream opens, then follows it. */

import { calls, link, loadCalls, loadState, loadTools, now, takeCalls, tools } from "./store";
import type { Call } from "./model/rows";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;

let pause = FIRST_PAUSE;
let arrived: Call[] = [];
let drawing = false;
let stale = false;
let reading: Promise<void> | null = null;

function follow(): void {
  const stream = new EventSource("/api/events");
  stream.addEventListener("open", () => {
    pause = FIRST_PAUSE;
    void readAll().then(() => {
      if (link.value !== "signed-out" && stream.readyState === EventSource.OPEN) link.value = "live";
    });
  });
  stream.addEventListener("call", (event: MessageEvent<string>) => onCall(JSON.parse(event.data) as Call));
  stream.addEventListener("state", () => refresh());
  // The stream skipped something because this page was too slow for it.
  stream.addEventListener("missed", () => void readAll());
  stream.addEventListener("error", () => {
    stream.close();
    void lost();
  });
}

/** Start following, the clock of the ages, and a look for a session that another tab may have opened. */
export function start(): void {
  follow();
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    now.value = Date.now();
    if (link.value === "signed-out") {
      link.value = "opening";
      follow();
    }
  });
}

async function lost(): Promise<void> {
  // Only an answer tells a closed session from a gateway that has ended.
  await loadState();
  if (link.value === "signed-out") return;
  link.value = "lost";
  setTimeout(follow, pause);
  pause = Math.min(pause * 2, LONGEST_PAUSE);
}

async function readAll(): Promise<void> {
  await Promise.all([loadState(), loadCalls()]);
  if (tools.value !== null) await loadTools();
}

/** One read at a time; changes that come meanwhile cost one more, however many they are. */
function refresh(): void {
  if (reading) {
    stale = true;
    return;
  }
  reading = loadState()
    .then(() => (tools.value === null ? undefined : loadTools()))
    .finally(() => {
      reading = null;
      if (!stale) return;
      stale = false;
      refresh();
    });
}

/** A burst of calls is drawn once a frame; a hidden page has no frames and waits for the timer. */
function onCall(row: Call): void {
  if (calls.value === null) return;
  arrived.push(row);
  if (drawing) return;
  drawing = true;
  const draw = () => {
    if (!drawing) return;
    drawing = false;
    const rows = arrived;
    arrived = [];
    takeCalls(rows);
  };
  if (document.hidden) setTimeout(draw, 200);
  else requestAnimationFrame(draw);
}
