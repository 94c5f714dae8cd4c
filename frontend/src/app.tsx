/** The frame: who and where this is, the three pages, and what stands above all of them. */

import { useEffect } from "preact/hooks";

import { counted, plain } from "./model/text";
import { Announcer } from "./parts/announce";
import { Command, Copy, Remedy } from "./parts/command";
import { Mark } from "./parts/icons";
import { Empty, Notice, Trouble } from "./parts/panels";
import { Line } from "./parts/text";
import { CallsPage } from "./pages/calls";
import { ServersPage } from "./pages/servers";
import { ToolsPage } from "./pages/tools";
import { href, PAGES, route, type Page } from "./route";
import { attention, link, loadTools, project, tools, trouble } from "./store";

const TITLES: Record<Page, string> = { servers: "Servers", tools: "Tools", calls: "Calls" };

export function App({ byLink }: { readonly byLink: boolean }) {
  const page = route.value.page;
  const name = project.value?.name ?? "";
  useEffect(() => {
    document.title = [TITLES[page], plain(name, 40), "Homeport"].filter(Boolean).join(" · ");
  }, [page, name]);
  const out = link.value === "signed-out";
  useEffect(() => {
    if (link.value === "live" && tools.value === null) void loadTools();
  }, [link.value, page]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <Header />
      {!out && <Tabs page={page} />}
      <main id="main" tabIndex={-1} data-link={link.value}>
        <h1 class="said">{TITLES[page]}</h1>
        {out ? <SignedOut byLink={byLink} /> : <Content page={page} />}
      </main>
      <Announcer />
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Header() {
  const of = project.value;
  return (
    <header>
      <div class="brand">
        <Mark />
        <span class="wordmark">Homeport</span>
        {of && <Line of={of.name} class="project" max={60} />}
      </div>
      {of && (
        <div class="endpoint" title="The endpoint for agents">
          <Line of={of.endpoint} class="mono" max={80} />
          <Copy text={of.endpoint} what="the endpoint" />
        </div>
      )}
      <LinkState />
    </header>
  );
}

const LINK_WORDS = { opening: "Connecting", live: "Live", lost: "Not connected", "signed-out": "Signed out" } as const;

function LinkState() {
  return (
    <span class="link" data-link={link.value} role="status">
      {LINK_WORDS[link.value]}
    </span>
  );
}

function Tabs({ page }: { readonly page: Page }) {
  return (
    <nav aria-label="Pages">
      <div class="tabs">
        {PAGES.map((name) => (
          <a key={name} href={href(name)} aria-current={name === page ? "page" : undefined}>
            {TITLES[name]}
            {name === "servers" && attention.value > 0 && (
              <span class="alert" title={`${counted(attention.value, "server")} to look at`}>
                {attention.value}
                <span class="said"> to look at</span>
              </span>
            )}
          </a>
        ))}
      </div>
    </nav>
  );
}

function Content({ page }: { readonly page: Page }) {
  return (
    <>
      {link.value === "lost" ? <Lost /> : trouble.value && <Trouble of={trouble.value} />}
      {project.value?.trusted === false && <Untrusted />}
      {project.value?.notices.map((notice) => (
        <Trouble key={notice.code} of={{ ...notice, message: notice.text }} />
      ))}
      {page === "servers" && <ServersPage />}
      {page === "tools" && <ToolsPage />}
      {page === "calls" && <CallsPage />}
    </>
  );
}

function Lost() {
  return (
    <Notice tone="bad">
      <p>The gateway does not answer. What you see is from before; this page comes back by itself when it runs again.</p>
      <Remedy of="homeport up" />
    </Notice>
  );
}

function Untrusted() {
  return (
    <Notice tone="warn">
      <p>You have not agreed to this project’s profiles, so nothing is granted to anyone.</p>
      <Remedy of="homeport trust" />
    </Notice>
  );
}

const OUT = {
  ended: {
    title: "This session has ended",
    says: "Sessions last twelve hours, and end when the gateway does. In the project’s directory, get a new link with",
  },
  used: {
    title: "This link no longer opens the console",
    says: "It has been used, or it is older than five minutes. In the project’s directory, get a new one with",
  },
  none: {
    title: "Open the console with a link",
    says: "The console is for the person who runs this gateway. In the project’s directory, get a link with",
  },
} as const;

function SignedOut({ byLink }: { readonly byLink: boolean }) {
  const { title, says } = OUT[project.value ? "ended" : byLink ? "used" : "none"];
  return (
    <Empty title={title}>
      <p>{says}</p>
      <p>
        <Command of="homeport up" />
      </p>
      <p class="hint">While the gateway runs, this prints its addresses and starts nothing.</p>
    </Empty>
  );
}
