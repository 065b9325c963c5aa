import { socketProtocols } from '@countersign/contracts/control-plane';
import { PageSocket } from './_socket.ts';

/** An answer as a page receives it. */
export type Report = { status: number; body: Record<string, unknown>; text: string; headers: Headers };
export const codeOf = ({ status, body }: Pick<Report, 'status' | 'body'>) => [
  status,
  (body['error'] as { code?: string } | undefined)?.code,
];
export const detailsOf = ({ body }: Pick<Report, 'body'>) =>
  (body['error'] as { details?: Record<string, unknown> } | undefined)?.details;
export const tagOf = ({ headers }: Pick<Report, 'headers'>) => headers.get('etag') ?? '';

type Socket = { workspaceId: string; ticket?: string; protocol?: string; headers?: Record<string, string> };
type Sent = { method?: string; body?: unknown; headers?: Record<string, string> };

/** One browser at our pages. It stores cookies with their paths and sends them as a browser does. */
export class Tab {
  readonly #origin: string;
  readonly #cookies = new Map<string, { value: string; path: string }>();
  /** The CSRF token that the page sends with each change. */
  csrfToken = '';

  constructor(origin: string, from?: Tab) {
    this.#origin = origin;
    if (from === undefined) return;
    this.#cookies = new Map(from.#cookies);
    this.csrfToken = from.csrfToken;
  }

  /** The same browser after the service moved to another address. */
  at(origin: string): Tab {
    return new Tab(origin, this);
  }

  /** A copy of the browser's cookies in another browser. */
  stolen(): Tab {
    return new Tab(this.#origin, this);
  }

  async send(path: string, { method = 'GET', body, headers = {} }: Sent = {}): Promise<Report> {
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
    const { status, headers: answered } = response;
    const text = await response.text();
    const report = { status, headers: answered, text, body: JSON.parse(text === '' ? '{}' : text) as Report['body'] }; // the caller checks the members
    if (typeof report.body['csrf_token'] === 'string') this.csrfToken = report.body['csrf_token'];
    return report;
  }

  /** Opens an address as a link from another site does, without following redirects. */
  async visit(path: string): Promise<Omit<Report, 'body'>> {
    const response = await fetch(new URL(path, this.#origin), {
      redirect: 'manual',
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', ...this.#cookieHeader(path) },
    });
    for (const text of response.headers.getSetCookie()) this.#keep(text);
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  }

  /** Returns an answer as text. */
  async lines(path: string): Promise<string> {
    return (await fetch(new URL(path, this.#origin), { headers: this.#cookieHeader(path) })).text();
  }

  /** Follows a stream. `ended` resolves when either side ends it. */
  async follow(path: string): Promise<{ status: number; ended: Promise<void> }> {
    const response = await fetch(new URL(path, this.#origin), { headers: this.#cookieHeader(path) });
    return { status: response.status, ended: endOf(response) };
  }

  async signIn(email: string): Promise<Report> {
    const begun = await this.send('/api/auth/login/begin', { method: 'POST', body: { email } });
    const { login_id, code } = begun.body;
    return this.send('/api/auth/login/finish', { method: 'POST', body: { login_id, code } });
  }

  /** Opens a socket in a workspace as our pages do, with a new ticket unless one is passed. */
  async openSocket(
    kind: 'console' | 'telemetry',
    { workspaceId, ticket, protocol, ...more }: Socket,
  ): Promise<PageSocket> {
    const path = `/ws/${kind}`;
    const protocols = [protocol ?? socketProtocols[kind], `ticket.${ticket ?? (await this.newTicket(workspaceId))}`];
    const headers = this.#cookieHeader(path);
    return PageSocket.open(this.#origin, { path, protocols, headers: { ...headers, ...more.headers } });
  }

  async newTicket(workspaceId: string): Promise<string> {
    const headers = { 'x-workspace-id': workspaceId };
    return String((await this.send('/api/session/ticket', { method: 'POST', headers })).body['ticket']);
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

export async function endOf({ body }: Response): Promise<void> {
  try {
    await new Response(body).arrayBuffer();
  } catch {
    // An aborted stream has ended too.
  }
}
