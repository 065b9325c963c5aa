type Told = { status: number; body: Record<string, unknown>; headers: Headers };
type Sent = { method?: string; body?: unknown; headers?: Record<string, string> };

/** One browser at a page of ours: it keeps cookies by the path that they are for, and sends them as a browser would. */
export class Tab {
  readonly #origin: string;
  readonly #cookies = new Map<string, { value: string; path: string }>();
  /** What the page sends with what changes something. */
  csrfToken = '';

  constructor(origin: string, from?: Tab) {
    this.#origin = origin;
    if (from === undefined) return;
    this.#cookies = new Map(from.#cookies);
    this.csrfToken = from.csrfToken;
  }

  /** Somebody who has copied what this browser keeps. */
  stolen(): Tab {
    return new Tab(this.#origin, this);
  }

  async send(path: string, { method = 'GET', body, headers = {} }: Sent = {}): Promise<Told> {
    const response = await fetch(new URL(path, this.#origin), {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'sec-fetch-site': 'same-origin', 'x-csrf-token': this.csrfToken }),
        ...this.#cookieHeader(path),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const text of response.headers.getSetCookie()) this.#keep(text);
    const told = { status: response.status, headers: response.headers, body: (await response.json()) as Told['body'] }; // the caller looks
    if (typeof told.body['csrf_token'] === 'string') this.csrfToken = told.body['csrf_token'];
    return told;
  }

  async signIn(email: string): Promise<Told> {
    const begun = await this.send('/api/auth/login/begin', { method: 'POST', body: { email } });
    const { login_id, code } = begun.body;
    return this.send('/api/auth/login/finish', { method: 'POST', body: { login_id, code } });
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()];
  }

  #cookieHeader(path: string): Record<string, string> {
    const fitting = [...this.#cookies].filter(([, cookie]) => path.startsWith(cookie.path));
    return fitting.length === 0 ? {} : { cookie: fitting.map(([name, { value }]) => `${name}=${value}`).join('; ') };
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((attribute) => attribute.startsWith('Path='))?.slice('Path='.length) ?? '/';
    if (attributes.includes('Max-Age=0')) this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }
}
