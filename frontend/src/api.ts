/** The HTTP side: JSON in, JSON out, failures as values of one shape. */

import { inAddress } from "./model/text";
import type { Call, Failure, Project, Server, Tool } from "./model/rows";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly failure: Failure,
  ) {
    super(failure.message);
  }
}

/** No answer at all: the gateway has ended, or is between two lives. */
export const SILENT = 0;

async function ask<T>(path: string, method = "GET"): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { method, headers: { Accept: "application/json" }, cache: "no-store" });
  } catch {
    throw new ApiError(SILENT, {
      code: "console.silent",
      message: "The gateway does not answer.",
      remedy: "homeport up",
    });
  }
  if (response.ok) return (await response.json()) as T;
  throw new ApiError(response.status, await failureOf(response));
}

async function failureOf(response: Response): Promise<Failure> {
  try {
    const body = (await response.json()) as { error: Failure };
    return body.error;
  } catch {
    return { code: "console.http", message: `The gateway answered with status ${response.status}.`, remedy: "" };
  }
}

export const api = {
  state: () => ask<{ project: Project; servers: Server[] }>("/api/state"),
  tools: (profile: string) => ask<{ tools: Tool[] }>(`/api/tools?profile=${inAddress(profile)}`),
  calls: (limit: number) => ask<{ calls: Call[] }>(`/api/calls?limit=${limit}`),
  restart: (name: string) => ask<{ restarted: string }>(`/api/servers/${inAddress(name)}/restart`, "POST"),
};
