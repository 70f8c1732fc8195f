/** The one HTTP client. Its paths, parameters, bodies and replies are typed by the generated schema. */

import { currentPile } from "../router";
import type { ErrorResponse, paths } from "./schema";

type Method = "get" | "post" | "put" | "delete";

/** The paths that support a method. */
type PathFor<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;

type PathParameters<O> = O extends { parameters: { path: infer P } } ? P : Empty;
/** The client adds the orientation itself. */
type Query<O> = O extends { parameters: { query?: infer Q } } ? Omit<NonNullable<Q>, "session"> : Empty;
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : Empty;

type Empty = Record<never, never>;
/** A part of a request; it may be omitted when nothing in it is required. */
type Part<Name extends string, T> = Empty extends T ? { [K in Name]?: T } : { [K in Name]: T };

type Options<O> = Part<"path", PathParameters<O>> &
  Part<"query", Query<O>> &
  Part<"body", Body<O>> & { signal?: AbortSignal };

/** The last argument of a request; it may be omitted when nothing in it is required. */
type Rest<O> = Empty extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

export type Reply<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R }
    ? { [S in keyof R]: R[S] extends { content: { "application/json": infer T } } ? T : never }[keyof R]
    : never;

/** A request at run time, when its types are gone. */
interface Request {
  path?: unknown;
  query?: unknown;
  body?: unknown;
  bytes?: ArrayBuffer;
  signal?: AbortSignal;
}

/** An error reply, in words. `status` 0: the server could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly whatToDo = "",
    /** The server's identifier for this kind of error. */
    readonly type = "",
  ) {
    super(message);
  }

  static from(problem: unknown): ApiError {
    return problem instanceof ApiError ? problem : new ApiError(0, String(problem));
  }

  /** Whether this page was opened for another pile or person than its address has now. */
  get isOtherLedger(): boolean {
    return this.type === "other-ledger";
  }

  /** Whether sending the same request again may succeed. */
  get retryable(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

/** The header by which a page says which ledger it was opened for; the server names it in replies. */
const LEDGER = "X-Samekind-Ledger";

/** Requests about one orientation; `null` is the first one, or none for routes without a session. */
export class Client {
  /**
   * The ledger that the first reply was about. The server refuses requests about another one: a
   * different pile may be served at the address of a page that was left open.
   */
  ledger: string | null = null;

  /** @param bound whether all its requests are about one ledger. */
  constructor(
    readonly session: string | null = null,
    private readonly bound = true,
  ) {}

  get<P extends PathFor<"get">>(path: P, ...[options]: Rest<Operation<P, "get">>): Promise<Reply<P, "get">> {
    return this.json("GET", path, options);
  }

  post<P extends PathFor<"post">>(path: P, ...[options]: Rest<Operation<P, "post">>): Promise<Reply<P, "post">> {
    return this.json("POST", path, options);
  }

  put<P extends PathFor<"put">>(path: P, ...[options]: Rest<Operation<P, "put">>): Promise<Reply<P, "put">> {
    return this.json("PUT", path, options);
  }

  delete<P extends PathFor<"delete">>(
    path: P,
    ...[options]: Rest<Operation<P, "delete">>
  ): Promise<Reply<P, "delete">> {
    return this.json("DELETE", path, options);
  }

  /** Send bytes instead of JSON. */
  async putBytes<P extends PathFor<"put">>(
    path: P,
    options: Omit<Options<Operation<P, "put">>, "body"> & { bytes: ArrayBuffer },
  ): Promise<Reply<P, "put">> {
    return this.json("PUT", path, options as Request);
  }

  /** A reply that is not JSON. */
  async bytes<P extends PathFor<"get">>(path: P, ...[options]: Rest<Operation<P, "get">>): Promise<ArrayBuffer> {
    return (await this.send("GET", path, options)).arrayBuffer();
  }

  /** The address of a GET request, for links and downloads. */
  url<P extends PathFor<"get">>(path: P, ...[options]: Rest<Operation<P, "get">>): string {
    return this.address(path, options);
  }

  /** The address of the event stream, which OpenAPI cannot describe. */
  get eventsUrl(): string {
    return this.address("/api/events");
  }

  private async json<T>(method: string, path: string, request: Request | undefined): Promise<T> {
    return (await (await this.send(method, path, request)).json()) as T;
  }

  private async send(method: string, path: string, request: Request = {}): Promise<Response> {
    const headers: Record<string, string> = {};
    const init: RequestInit = { method, headers };
    if (this.ledger !== null) headers[LEDGER] = this.ledger;
    if (request.signal) init.signal = request.signal;
    if (request.bytes !== undefined) {
      headers["Content-Type"] = "application/octet-stream";
      init.body = request.bytes;
    } else if (method === "POST" || method === "PUT") {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(request.body ?? {});
    }
    const reply = await fetch(this.address(path, request), init).catch(() => {
      throw new ApiError(0, "Cannot reach samekind.", "Check that it is still running in the terminal.");
    });
    if (reply.ok) {
      if (this.bound) this.ledger ??= reply.headers.get(LEDGER);
      return reply;
    }
    const error = ((await reply.json().catch(() => null)) as Partial<ErrorResponse> | null)?.error;
    const message = error?.message ?? `The server answered with status ${reply.status}.`;
    throw new ApiError(reply.status, message, error?.what_to_do ?? "", error?.type ?? "");
  }

  private address(template: string, request: Request = {}): string {
    const values = (request.path ?? {}) as Record<string, unknown>;
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
    const query = new URLSearchParams();
    if (this.session !== null) query.set("session", this.session);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value != null) query.set(name, String(value));
    }
    const pile = currentPile();
    if (pile !== null) query.set("pile", pile);
    return query.size > 0 ? `${path}?${query}` : path;
  }
}

/** For routes that are not about one orientation: start, jobs. */
export const server = new Client(null, false);
