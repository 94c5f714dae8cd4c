/** Every locked tool as one profile sees it: granted or not, by which rule, and how to call or grant it. */

import { useSignal } from "@preact/signals";

import { callCommand, grantCommand, grantReadOnlyCommand } from "../model/commands";
import { counted, plain } from "../model/text";
import type { Tool } from "../model/rows";
import { isWithheld, meaning } from "../model/servers";
import { argumentsOf, byServer, toolPasses, type ToolFilter } from "../model/tools";
import { Command, Sentence } from "../parts/command";
import { Chip, Choices, Facts, onRowKeys, Row, SearchBox, Select } from "../parts/controls";
import { Check, Dash } from "../parts/icons";
import { Empty, Trouble, Waiting } from "../parts/panels";
import { Line, Prose } from "../parts/text";
import { href, route } from "../route";
import { chooseProfile, profile, project, servers, tools, toolsTrouble } from "../store";

const PAGE = 200;
const ARGUMENTS_SHOWN = 40;

export function ToolsPage() {
  const granted = useSignal<ToolFilter["granted"]>("all");
  const text = useSignal("");
  const most = useSignal(PAGE);
  const all = tools.value;
  const server = route.value.server;
  const filter: ToolFilter = { granted: granted.value, server, text: text.value };
  const shown = (all ?? []).filter((tool) => toolPasses(tool, filter));
  return (
    <>
      <div class="bar">
        <SearchBox label="Search tools" value={text.value} onInput={(value) => (text.value = value)} />
        <Choices
          label="Show tools"
          value={granted.value}
          onChoose={(value) => (granted.value = value)}
          of={choices(all ?? [], server)}
        />
        <Profile />
        {server !== "" && (
          <Chip page="tools">
            <Line of={server} max={60} />
          </Chip>
        )}
      </div>
      {toolsTrouble.value && <Trouble of={toolsTrouble.value} />}
      {all === null ? (
        toolsTrouble.value === null && <Waiting rows={6} of="tools" />
      ) : (
        <>
          <NothingGranted of={all} />
          <Groups of={shown.slice(0, most.value)} />
          {shown.length > most.value && (
            <p class="more">
              <button type="button" class="act" onClick={() => (most.value += PAGE)}>
                Show more
              </button>
              <span>{counted(shown.length - most.value, "tool")} not shown</span>
            </p>
          )}
          {all.length > 0 && shown.length === 0 && <NoMatch />}
        </>
      )}
    </>
  );
}

function choices(all: readonly Tool[], server: string) {
  const of = all.filter((tool) => server === "" || tool.server === server);
  const granted = of.filter((tool) => tool.granted).length;
  return [
    { value: "all" as const, label: "All", count: of.length },
    { value: "granted" as const, label: "Granted", count: granted },
    { value: "denied" as const, label: "Not granted", count: of.length - granted },
  ];
}

function Profile() {
  const names = project.value?.profiles ?? [];
  const all = names.includes(profile.value) ? names : [profile.value, ...names];
  return (
    <Select
      label="Profile"
      value={profile.value}
      onChoose={chooseProfile}
      of={all.map((name) => ({ value: name, label: plain(name, 40) }))}
    />
  );
}

function Groups({ of }: { readonly of: readonly Tool[] }) {
  const open = useSignal<string | null>(null);
  return (
    <div onKeyDown={onRowKeys}>
      {byServer(of).map(([server, group]) => (
        <section class="group" key={server}>
          <h2>
            <Line of={server} max={80} />
            <span class="count">{counted(group.length, "tool")}</span>
            <Withheld server={server} />
          </h2>
          <ul class="rows">
            {group.map((tool) => {
              const key = `${tool.server}\n${tool.name}`;
              return (
                <ToolItem
                  key={key}
                  of={tool}
                  open={open.value === key}
                  onToggle={() => (open.value = open.value === key ? null : key)}
                />
              );
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** A grant is no use while its server is not served: say so where the grant is. */
function Withheld({ server }: { readonly server: string }) {
  const found = (servers.value ?? []).find((each) => each.name === server);
  if (!found || !isWithheld(found)) return null;
  const { label, tone } = meaning(found.state);
  return (
    <a class="state" data-tone={tone} href={href("servers")} title="Agents do not see its tools now">
      {plain(label, 24)}
      <span class="said">: agents do not see its tools now</span>
    </a>
  );
}

function ToolItem({ of: tool, open, onToggle }: { readonly of: Tool; readonly open: boolean; readonly onToggle: () => void }) {
  return (
    <Row
      class="tool"
      open={open}
      onToggle={onToggle}
      data={{ "data-granted": tool.granted }}
      head={
        <>
          <span class="grant" title={tool.granted ? "Granted" : "Not granted"}>
            {tool.granted ? <Check /> : <Dash />}
            <span class="said">{tool.granted ? "Granted" : "Not granted"}</span>
          </span>
          <span class="what">
            <Line of={tool.name} class="name mono" max={120} />
            <Line of={firstLine(tool.description || tool.title)} class="source" max={240} />
          </span>
          <span class="badges">
            {tool.read_only && <span class="badge">read-only</span>}
            {tool.destructive && (
              <span class="badge" data-tone="bad">
                destructive
              </span>
            )}
          </span>
        </>
      }
    >
      <ToolDetail of={tool} />
    </Row>
  );
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? "";
}

function verdict(tool: Tool): string {
  if (tool.granted) return tool.reason === "" ? "Granted" : tool.reason.replace(/^granted/, "Granted");
  return tool.reason === "" ? "Not granted" : `Not granted: ${tool.reason}`;
}

function ToolDetail({ of: tool }: { readonly of: Tool }) {
  const command = tool.granted
    ? callCommand(tool.server, tool.name)
    : grantCommand(tool.server, tool.name, profile.value);
  return (
    <>
      <p class="sentence">
        <Sentence of={verdict(tool)} />
      </p>
      {command !== null && (
        <p class="remedy">
          <span class="lead">{tool.granted ? "Call it" : "Grant it"}</span>
          <Command of={command} />
        </p>
      )}
      {tool.description !== "" && (
        <section>
          <p class="label">Description, as the server wrote it</p>
          <Prose of={tool.description} max={20_000} />
        </section>
      )}
      <Arguments of={tool.schema} />
      <Facts
        of={[
          ["Title", tool.title === "" ? "" : <Line of={tool.title} />],
          ["Agents see", tool.served === "" ? "" : <Line of={tool.served} class="mono" />],
        ]}
      />
      {tool.schema !== "" && (
        <details>
          <summary>Schema as locked</summary>
          <Prose of={tool.schema} max={60_000} class="log" />
        </details>
      )}
    </>
  );
}

function Arguments({ of: schema }: { readonly of: string }) {
  const all = argumentsOf(schema);
  if (all === null) return null;
  if (all.length === 0) return <p class="hint">It takes no arguments.</p>;
  return (
    <section>
      <p class="label">Arguments</p>
      <ul class="arguments">
        {all.slice(0, ARGUMENTS_SHOWN).map((argument) => (
          <li key={argument.name}>
            <span>
              <Line of={argument.name} class="mono" max={120} /> <Line of={argument.type} class="type" max={60} />
              {argument.required && <span class="badge">required</span>}
            </span>
            {argument.description !== "" && <Prose of={argument.description} max={600} />}
          </li>
        ))}
      </ul>
      {all.length > ARGUMENTS_SHOWN && (
        <p class="hint">{counted(all.length - ARGUMENTS_SHOWN, "more argument")} in the schema.</p>
      )}
    </section>
  );
}

/** Default deny surprises whoever sees it first: say that nothing is broken, and what to do. */
function NothingGranted({ of: all }: { readonly of: readonly Tool[] }) {
  if (all.length === 0) return <NoTools />;
  if (all.some((tool) => tool.granted)) return null;
  if (project.value?.trusted === false) return null;
  const command = firstGrant(all);
  return (
    <div class="notice" data-tone="warn">
      <p>
        Nothing is granted to the profile <Line of={profile.value} max={40} class="mono" />, so agents that use it see no
        tools. To begin with:
      </p>
      {command !== null && (
        <p class="remedy">
          <Command of={command} />
        </p>
      )}
    </div>
  );
}

function firstGrant(all: readonly Tool[]): string | null {
  const reader = all.find((tool) => tool.read_only);
  if (reader) return grantReadOnlyCommand(reader.server, profile.value);
  const first = all[0];
  return first ? grantCommand(first.server, first.name, profile.value) : null;
}

function NoTools() {
  const some = (servers.value ?? []).length > 0;
  return (
    <Empty title={some ? "No tools are locked yet" : "No servers, so no tools"}>
      <p>{some ? "Read what the servers offer, and pin it:" : "Take over the servers that an agent of yours has already:"}</p>
      <p>
        <Command of={some ? "homeport lock" : "homeport import mcp.json"} />
      </p>
    </Empty>
  );
}

function NoMatch() {
  return (
    <Empty title="No tool matches">
      <p>Search looks in names, titles, servers and descriptions. Clear it, or show all tools.</p>
    </Empty>
  );
}
