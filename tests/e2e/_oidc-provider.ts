import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { Server } from 'node:http';
import { once } from 'node:events';
import { freePort } from '@countersign/local';
import Provider from 'oidc-provider';

type Members = Record<string, unknown>;
/** A false claim or signature in the provider's next ID token. */
export type Lie = {
  claims?: Members;
  /** The key that signs instead of the provider's: another key, the client's secret, or none. */
  signedBy?: 'stranger' | 'secret' | 'nobody';
};

type Connected = { connection_id: string; client_id: string; client_secret: string };

/** The account that signs in at the provider: its subject and its address. */
type Account = { subject: string; email?: string };

/** A real OpenID provider. Tests choose the account of the next sign-in, and may forge its ID token. */
export class TestProvider {
  readonly issuer: string;
  readonly #server: Server;
  readonly #own: KeyObject;
  #account: Account = { subject: 'nobody' };
  #lie: Lie | null = null;

  private constructor(issuer: string, started: { server: Server; own: KeyObject }) {
    this.issuer = issuer;
    this.#server = started.server;
    this.#own = started.own;
  }

  static async start(clients: Connected[], consoleUrl: string): Promise<TestProvider> {
    const issuer = `http://127.0.0.1:${await freePort()}`;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const at: { is: TestProvider | null } = { is: null };
    const provider = new Provider(issuer, {
      clients: clients.map(({ connection_id, ...client }) => ({
        ...client,
        redirect_uris: [`${consoleUrl}/api/auth/oidc/${connection_id}/callback`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      })),
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'RS256' }] },
      cookies: { keys: ['cookies-of-a-test-provider-'.repeat(2)] },
      claims: { openid: ['sub'], email: ['email'] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, subject) => ({
        accountId: subject,
        claims: () => ({ sub: subject, ...(at.is?.emailOf(subject) ?? {}) }),
      }),
      loadExistingGrant: async ({ oidc }) => {
        const { client, session } = oidc;
        const grant = new oidc.provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (context, next) => {
      if (context.path.startsWith('/interaction/')) {
        context.respond = false;
        const login = { accountId: at.is?.accountNow ?? '' };
        return provider.interactionFinished(context.req, context.res, { login });
      }
      await next();
      if (context.path === '/token' && context.status === 200) context.body = at.is?.tell(context.body as Members);
    });
    const server = provider.listen(Number(new URL(issuer).port), '127.0.0.1');
    await once(server, 'listening');
    at.is = new TestProvider(issuer, { server, own: privateKey });
    return at.is;
  }

  get accountNow(): string {
    return this.#account.subject;
  }

  emailOf(subject: string): { email?: string } {
    const { email } = this.#account;
    return subject === this.#account.subject && email !== undefined ? { email } : {};
  }

  /** Sets the account of the next sign-ins, and the false claim or signature. */
  is(account: Account, lie: Lie | null = null): void {
    this.#account = account;
    this.#lie = lie;
  }

  /** Follows a browser from this address through the provider to the redirect with its answer. */
  async signIn(address: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let at = new URL(address);
    while (at.origin === new URL(this.issuer).origin) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
      for (const text of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (text.split(';')[0] ?? '').split('=');
        cookies.set(name, value);
      }
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
      at = new URL(location, at);
    }
    return at;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  tell(report: Members): Members {
    const lie = this.#lie;
    if (lie === null) return report;
    const [, payload = ''] = String(report['id_token']).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Members; // the provider made it
    return { ...report, id_token: this.#forge({ ...claims, ...lie.claims }, lie.signedBy) };
  }

  #forge(claims: Members, signedBy: Lie['signedBy']): string {
    const alg = { stranger: 'RS256', secret: 'HS256', nobody: 'none', own: 'RS256' }[signedBy ?? 'own'];
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${encode({ alg, kid: 'own' })}.${encode(claims)}`;
    return `${text}.${this.#signatureOver(text, signedBy)}`;
  }

  #signatureOver(text: string, signedBy: Lie['signedBy']): string {
    if (signedBy === 'nobody') return '';
    if (signedBy === 'secret') return createHmac('sha256', clientSecret).update(text).digest('base64url');
    const key = signedBy === 'stranger' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey : this.#own;
    return sign('sha256', Buffer.from(text), key).toString('base64url');
  }
}

export const clientSecret = 'client-secret-'.repeat(3);
