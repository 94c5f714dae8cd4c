/** The rows of the API, as `homeport.console.desk` and `homeport.calls.ports` name them. */

export type ServerState =
  | "ready"
  | "starting"
  | "stopped"
  | "failed"
  | "untrusted"
  | "withheld"
  | "disabled"
  | "fault";

export interface Project {
  readonly name: string;
  readonly root: string;
  readonly endpoint: string;
  readonly version: string;
  readonly profiles: readonly string[];
  readonly trusted: boolean;
  readonly notices: readonly Notice[];
}

/** Something about the whole project that a person should see. */
export interface Notice {
  readonly code: string;
  readonly text: string;
  readonly remedy: string;
}

export interface Server {
  readonly name: string;
  readonly source: string;
  readonly state: ServerState;
  readonly sentence: string;
  readonly remedy: string;
  readonly tools_locked: number;
  readonly tools_granted: number;
  readonly pid: number | null;
  readonly era: string;
  readonly version: string;
  readonly since_ms: number | null;
  readonly stderr: readonly string[];
}

export interface Tool {
  readonly server: string;
  readonly name: string;
  readonly served: string;
  readonly title: string;
  readonly description: string;
  readonly granted: boolean;
  readonly reason: string;
  readonly read_only: boolean;
  readonly destructive: boolean;
  /** JSON text. */
  readonly schema: string;
}

export interface Call {
  readonly id: string;
  readonly ts_ms: number;
  readonly stage: string;
  readonly profile: string;
  readonly client: string;
  readonly edge: string;
  readonly session: string;
  readonly kind: string;
  readonly server: string;
  readonly name: string;
  readonly decision: string;
  readonly rule: string;
  readonly reason: string;
  readonly place: string;
  readonly args: Readonly<Record<string, unknown>> | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly duration_ms: number | null;
  readonly dry_run: boolean;
  /** `once`, `thread`, `always`, `declined` or `unanswered`, where a person was asked. */
  readonly approval: string;
}

/** What every failing answer of the API holds. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}
