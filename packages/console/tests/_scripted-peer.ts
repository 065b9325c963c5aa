import { ErrorEnvelope, errorCodes, pathParams, type AnyRoute, type ErrorCode } from '@countersign/contracts';

/** A request of a page: the members of the path, the query, the body and the headers. */
type Input = {
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
  headers: Headers;
};
type Reply = (input: Input) => Promise<Response> | Response;
type Scripted = { route: AnyRoute; reply: Reply; requests: Input[] };

/**
 * Answers the requests of a page in place of the services. It checks requests and answers against the contracts.
 * `breaches` lists violations, and requests that no test has scripted.
 */
export class ScriptedPeer {
  readonly breaches: string[] = [];
  /** The server's clock minus the clock of the browser, in milliseconds. */
  clockAheadMs = 0;
  readonly #scripts = new Map<string, Scripted>();

  /** Answers `route` with `body` from now on. */
  answers(route: AnyRoute, body: object, headers: Record<string, string> = {}): void {
    this.#script(route, () => this.#answer(route, body, headers));
  }

  /** Answers each request to `route` with the body for it from now on. */
  answersEach(route: AnyRoute, bodyOf: (input: Input) => object): void {
    this.#script(route, (input) => this.#answer(route, bodyOf(input), {}));
  }

  /** Rejects `route` from now on, as the services do. */
  refuses(route: AnyRoute, code: ErrorCode, message = 'The peer refuses'): void {
    this.#script(route, () => refusal(code, message));
  }

  /** Leaves `route` without an answer from now on, as when the gateway is away. */
  isAwayFor(route: AnyRoute): void {
    this.#script(route, () => Promise.reject(new TypeError('fetch failed')));
  }

  /** Delays the answers of `route` until the returned function is called. */
  holds(route: AnyRoute, body: object): () => void {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#script(route, async () => {
      await released;
      return this.#answer(route, body, {});
    });
    return release;
  }

  /** The requests to `route`, in order. */
  requests(route: AnyRoute): readonly Input[] {
    return this.#scripts.get(route.operation)?.requests ?? [];
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input, location.origin);
    const method = init.method ?? 'GET';
    for (const { route, reply, requests } of this.#scripts.values()) {
      const params = method === route.method ? paramsOf(route, url.pathname) : null;
      if (params === null) continue;
      const read = this.#readAsked(route, { params, url, init });
      requests.push(read);
      const answer = await reply(read);
      answer.headers.set('date', new Date(Date.now() + this.clockAheadMs).toUTCString());
      return answer;
    }
    return this.#breach(`No test has scripted ${method} ${url.pathname}`);
  };

  #script(route: AnyRoute, reply: Reply): void {
    this.#scripts.set(route.operation, { route, reply, requests: [...this.requests(route)] });
  }

  #answer(route: AnyRoute, body: object, headers: Record<string, string>): Response {
    const parsed = route.reply.safeParse(body);
    if (!parsed.success) return this.#breach(`The contract of ${route.operation} has no such answer: ${parsed.error}`);
    return Response.json(body, { status: route.status, headers });
  }

  #readAsked(route: AnyRoute, { params, url, init }: { params: Input['params']; url: URL; init: RequestInit }): Input {
    const query = Object.fromEntries(url.searchParams);
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    for (const [shape, value] of [
      [route.params, params],
      [route.query, query],
      [route.body, body],
    ] as const) {
      const parsed = shape?.safeParse(value);
      if (parsed?.success === false)
        this.#breach(`The contract of ${route.operation} has no such request: ${parsed.error}`);
    }
    return { params, query, body, headers: new Headers(init.headers) };
  }

  #breach(what: string): Response {
    this.breaches.push(what);
    return refusal('INTERNAL', what);
  }
}

/** The path parameters, or `null` when the path does not match the route. */
function paramsOf(route: AnyRoute, pathname: string): Record<string, string> | null {
  const names = pathParams(route.path);
  const pattern = new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
  const values = pattern.exec(pathname)?.slice(1);
  return values === undefined
    ? null
    : Object.fromEntries(names.map((name, nth) => [name, decodeURIComponent(values[nth] ?? '')]));
}

function refusal(code: ErrorCode, message: string): Response {
  const { status, type } = errorCodes[code];
  const error = { message, type, code, param: null, request_id: 'req_of_the_test', retryable: false };
  return Response.json(ErrorEnvelope.parse({ error }), { status });
}
