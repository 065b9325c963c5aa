import { ErrorEnvelope, errorCodes, pathParams, type AnyRoute, type ErrorCode } from '@countersign/contracts';

/** A request of a page: the members of the path, the query, the body and the headers. */
type Asked = {
  params: Record<string, string>;
  query: Record<string, string>;
  body: unknown;
  headers: Headers;
};
type Reply = () => Promise<Response> | Response;
type Scripted = { route: AnyRoute; reply: Reply; asked: Asked[] };

/**
 * Answers what a page asks, instead of the services. Requests and answers are held to the contracts: what a contract does not allow, and
 * what no test has scripted, is in `breaches`.
 */
export class ScriptedPeer {
  readonly breaches: string[] = [];
  readonly #scripts = new Map<string, Scripted>();

  /** From now on `route` is answered by `body`. */
  answers(route: AnyRoute, body: object, headers: Record<string, string> = {}): void {
    this.#script(route, () => this.#answer(route, body, headers));
  }

  /** From now on `route` is refused, as the services do it. */
  refuses(route: AnyRoute, code: ErrorCode, message = 'The peer refuses'): void {
    this.#script(route, () => refusal(code, message));
  }

  /** From now on there is no answer of `route`, as when the gateway is away. */
  isAwayFor(route: AnyRoute): void {
    this.#script(route, () => Promise.reject(new TypeError('fetch failed')));
  }

  /** Answers of `route` wait until the function that is returned is called. */
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
  asked(route: AnyRoute): readonly Asked[] {
    return this.#scripts.get(route.operation)?.asked ?? [];
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input, location.origin);
    const method = init.method ?? 'GET';
    for (const { route, reply, asked } of this.#scripts.values()) {
      const params = method === route.method ? paramsOf(route, url.pathname) : null;
      if (params === null) continue;
      asked.push(this.#readAsked(route, { params, url, init }));
      return await reply();
    }
    return this.#breach(`No test has scripted ${method} ${url.pathname}`);
  };

  #script(route: AnyRoute, reply: Reply): void {
    this.#scripts.set(route.operation, { route, reply, asked: [...this.asked(route)] });
  }

  #answer(route: AnyRoute, body: object, headers: Record<string, string>): Response {
    const parsed = route.reply.safeParse(body);
    if (!parsed.success) return this.#breach(`The contract of ${route.operation} has no such answer: ${parsed.error}`);
    return Response.json(body, { status: route.status, headers });
  }

  #readAsked(route: AnyRoute, { params, url, init }: { params: Asked['params']; url: URL; init: RequestInit }): Asked {
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

/** The members of the path, if it is one of the route. */
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
