/** Every server of the project: its state, and where it is not served, why and what mends it. */

import { useSignal } from "@preact/signals";

import { counted, plain } from "../model/text";
import { age, stamp } from "../model/time";
import type { Server } from "../model/rows";
import { canRestart, meaning, serverPasses, type ServerFilter } from "../model/servers";
import { Command, Remedy, Sentence } from "../parts/command";
import { Choices, Facts, onRowKeys, Row } from "../parts/controls";
import { Turn } from "../parts/icons";
import { Empty, Trouble, Waiting } from "../parts/panels";
import { Line, Prose } from "../parts/text";
import { href } from "../route";
import { now, project, restart, restarts, servers } from "../store";

export function ServersPage() {
  const filter = useSignal<ServerFilter>("all");
  const open = useSignal<ReadonlySet<string>>(new Set());
  const all = servers.value;
  if (all === null) return <Waiting rows={4} of="servers" />;
  if (all.length === 0) return <NoServers />;
  const shown = all.filter((server) => serverPasses(server, filter.value));
  const toggle = (name: string) => {
    const next = new Set(open.value);
    if (!next.delete(name)) next.add(name);
    open.value = next;
  };
  return (
    <>
      <div class="bar">
        <Choices
          label="Show servers"
          value={filter.value}
          onChoose={(value) => (filter.value = value)}
          of={choices(all)}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title="No server is in this state">
          <p>
            <button type="button" class="plain" onClick={() => (filter.value = "all")}>
              Show all servers
            </button>
          </p>
        </Empty>
      ) : (
        <ul class="rows" onKeyDown={onRowKeys} aria-label="Servers">
          {shown.map((server) => (
            <ServerItem
              key={server.name}
              of={server}
              open={open.value.has(server.name)}
              onToggle={() => toggle(server.name)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function choices(all: readonly Server[]) {
  const count = (filter: ServerFilter) => all.filter((server) => serverPasses(server, filter)).length;
  const off = count("off");
  return [
    { value: "all" as const, label: "All", count: all.length },
    { value: "serving" as const, label: "Serving", count: count("serving") },
    { value: "attention" as const, label: "Needs you", count: count("attention") },
    ...(off > 0 ? [{ value: "off" as const, label: "Disabled", count: off }] : []),
  ];
}

function ServerItem(props: { readonly of: Server; readonly open: boolean; readonly onToggle: () => void }) {
  const server = props.of;
  const { label, tone, says } = meaning(server.state);
  return (
    <Row
      class="server"
      open={props.open}
      onToggle={props.onToggle}
      data={{ "data-tone": tone, "data-server": plain(server.name) }}
      head={
        <>
          <span class="state" data-tone={tone}>
            {plain(label, 24)}
          </span>
          <span class="what">
            <Line of={server.name} class="name" max={80} />
            <Line of={server.source} class="source" max={200} />
          </span>
          <span class="granted">{granted(server)}</span>
          <span class="since">{server.since_ms === null ? "" : age(now.value - server.since_ms)}</span>
        </>
      }
      below={<Why of={server} says={says} open={props.open} />}
    >
      <Detail of={server} />
    </Row>
  );
}

function granted(server: Server): string {
  if (server.tools_locked === 0) return "no tools";
  if (server.tools_granted === server.tools_locked) return counted(server.tools_locked, "tool");
  return `${server.tools_granted} of ${counted(server.tools_locked, "tool")}`;
}

/** The sentence and the remedy are never folded away: they are what the person came for. */
function Why({ of: server, says, open }: { readonly of: Server; readonly says: string; readonly open: boolean }) {
  const failed = restarts.value.get(server.name);
  const sentence = server.sentence || says;
  if (sentence === "" && server.remedy === "" && typeof failed !== "object") return null;
  return (
    <div class="why">
      {sentence !== "" && (
        <p class="sentence">
          <Sentence of={sentence} />
        </p>
      )}
      {server.state === "failed" && !open && server.stderr.length > 0 && <Stderr lines={server.stderr.slice(-3)} />}
      <Remedy of={server.remedy} />
      {typeof failed === "object" && <Trouble of={failed} />}
    </div>
  );
}

function Detail({ of: server }: { readonly of: Server }) {
  return (
    <>
      <Facts
        of={[
          ["Process", server.pid === null ? "" : String(server.pid)],
          ["Era", server.era === "" ? "" : <Line of={`${server.era} ${server.version}`.trim()} />],
          ["Since", server.since_ms === null ? "" : stamp(server.since_ms)],
          ["Source", <Line of={server.source} max={1000} class="mono" />],
        ]}
      />
      {server.state === "stopped" && <p class="hint">It starts at its first call and stops again when it is idle.</p>}
      {server.stderr.length > 0 && (
        <section>
          <p class="label">Last lines it wrote</p>
          <Stderr lines={server.stderr} />
        </section>
      )}
      <p class="actions">
        {canRestart(server) && <Restart name={server.name} starts={server.state === "stopped"} />}
        <a href={href("tools", server.name)}>Tools</a>
        <a href={href("calls", server.name)}>Calls</a>
      </p>
    </>
  );
}

function Stderr({ lines }: { readonly lines: readonly string[] }) {
  return <Prose of={lines.join("\n")} max={20_000} class="log" />;
}

function Restart({ name, starts }: { readonly name: string; readonly starts: boolean }) {
  const busy = restarts.value.get(name) === "busy";
  return (
    <button type="button" class="act" disabled={busy} onClick={() => void restart(name)}>
      <Turn />
      {starts ? (busy ? "Starting…" : "Start now") : busy ? "Restarting…" : "Restart"}
    </button>
  );
}

function NoServers() {
  return (
    <Empty title="No servers yet">
      <p>
        This project has no server in its <code>homeport.toml</code>. Take over those that an agent of yours has already,
        from its configuration file:
      </p>
      <p>
        <Command of="homeport import mcp.json" />
      </p>
      <p>or add one:</p>
      <p>
        <Command of="homeport add time --python mcp-server-time==2026.10.19" />
      </p>
      <p class="hint">
        They appear here as soon as the file changes{project.value ? " in " : ""}
        {project.value && <Line of={project.value.root} class="mono" />}.
      </p>
    </Empty>
  );
}

