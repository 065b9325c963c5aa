import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createClient, SignInId, speakingHeaders, type Client, type UserId } from '@countersign/contracts';
import type { ListedOrg, ListedOrgWorkspace } from '@countersign/contracts/control-plane';
import { commercialRoutes } from '@countersign/contracts/routes';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import {
  createAssertionSigner,
  createLogger,
  readAssertionKey,
  type AssertedKey,
  type AssertedPerson,
} from '@countersign/service-kit';
import { commercialConfigFrom, startCommercialGateway, type StartedCommercialGateway } from '../src/index.ts';

export type CommercialClient = Client<typeof commercialRoutes>;

/** The key of the gateway that signs in people for these tests. */
const gatewayKey = generateSigningKey();
const signInId = SignInId.parse('ses_01ARZ3NDEKTSV4RRFFQ69G5FA1');
export const publicUrl = 'https://countersign.example.org';
const serviceKey = 'service-key-of-a-commercial-gateway-under-test';
const serviceDir = fileURLToPath(new URL('..', import.meta.url));

type AtGateway = { method: string; url: string; headers: IncomingHttpHeaders; body: string };
type Reply = { status: number; body: unknown; headers?: Record<string, string> };

/**
 * Fake of the servers that this service calls over HTTP: the directory routes of a control plane with the organisations
 * of a test, a kernel without receipts, and a gateway. A test sets the answers of the gateway below `/api`.
 */
class DirectoryServer {
  readonly orgs: ListedOrg[] = [];
  readonly workspaces: ListedOrgWorkspace[] = [];
  /** Requests to the gateway. */
  readonly atGateway: AtGateway[] = [];
  /** The usage of an organisation at the control plane. `null` while the control plane does not answer. */
  use: object | null = null;
  /** The report of the control plane about each connection. `null` while it does not answer. */
  sso: object | null = null;
  /** Audit chains of workspaces by the path of their route. All other chains are empty. */
  readonly auditChains = new Map<string, { seq: number; hash: string }[]>();
  gatewayReply: (request: AtGateway) => Reply = () => ({ status: 500, body: {} });
  /** Whether the gateway reports each person as the only owner of a workspace. `null` while it does not answer. */
  isSoleOwner: boolean | null = false;
  readonly #server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    if (url.pathname.startsWith('/api/')) return void this.#answerAsGateway(req, res);
    const isKnown = req.headers.authorization === `Bearer ${serviceKey}`;
    if (isKnown && /^\/internal\/(metering|receipts)\//.test(url.pathname)) {
      res.writeHead(200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ data: [] }));
    }
    if (isKnown && url.pathname === '/internal/provisioned-people/sole-owner') {
      res.writeHead(this.isSoleOwner === null ? 503 : 200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ sole_owner: this.isSoleOwner }));
    }
    const ofOrg = isKnown ? /^\/internal\/orgs\/[^/]+\/(sso|use)$/.exec(url.pathname)?.[1] : undefined;
    if (ofOrg === 'sso' || ofOrg === 'use') {
      const answer = this[ofOrg];
      res.writeHead(answer === null ? 503 : 200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify(answer ?? {}));
    }
    if (isKnown && /^\/internal\/(audit-chains\/[^/]+|workspaces\/[^/]+\/audit)$/.test(url.pathname)) {
      res.writeHead(200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify(this.#chainFrom(url)));
    }
    const rows = url.pathname === '/internal/orgs' ? this.orgs : this.workspaces;
    const page = pageOf<ListedOrg | ListedOrgWorkspace>(rows, url.searchParams);
    res.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    return res.end(JSON.stringify(isKnown ? page : {}));
  });

  /** Returns a page of two entries. */
  #chainFrom({ pathname, searchParams }: URL): object {
    const entries = this.auditChains.get(pathname) ?? [];
    const from = Number(searchParams.get('from'));
    const last = entries.at(-1);
    const end = { seq: last?.seq ?? 0, hash: last?.hash ?? null };
    return { end, data: entries.filter(({ seq }) => seq >= from).slice(0, 2) };
  }

  async #answerAsGateway(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let body = '';
    for await (const piece of req.setEncoding('utf8')) body += String(piece);
    const request = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body };
    this.atGateway.push(request);
    const reply = this.gatewayReply(request);
    res
      .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      .end(JSON.stringify(reply.body));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function pageOf<Row extends ListedOrg | ListedOrgWorkspace>(rows: readonly Row[], query: URLSearchParams) {
  const idOf = (row: Row) => ('name' in row ? row.org_id : row.workspace_id);
  const limit = Number(query.get('limit'));
  const data = rows.filter((row) => idOf(row) > (query.get('cursor') ?? '')).slice(0, limit);
  const last = data.at(-1);
  return { data, next_cursor: last !== undefined && data.length === limit ? idOf(last) : null };
}

export type CommercialSite = {
  readonly database: TestDatabase;
  readonly directory: DirectoryServer;
  readonly gateway: StartedCommercialGateway;
  /** A client of a person who signed in now, or the passed number of seconds ago. */
  as(userId: UserId, signedInSecondsAgo?: number): Promise<CommercialClient>;
  /** The assertion of a person who signed in now. */
  tokenOf(userId: UserId): Promise<string>;
  /** A client whose assertion is for the control plane. */
  asAtControlPlane(userId: UserId): Promise<CommercialClient>;
  /** A client of a person or an API key at the basic API, with the delegation that the gateway adds. */
  asBasic(caller: Partial<AssertedPerson> & { sub: UserId }, signedInSecondsAgo?: number): Promise<CommercialClient>;
  asKey(key: AssertedKey, audience?: 'control-plane' | 'commercial-gateway'): Promise<CommercialClient>;
  readonly anonymous: CommercialClient;
  /** A client of a sibling service. */
  readonly sibling: CommercialClient;
  stop(): Promise<void>;
};

type SiteOptions = {
  env?: Record<string, string>;
  now?: () => Date;
  /** The interval of the receipt meter. */
  meterMs?: number;
  /** The DNS of the test. */
  resolveTxt?: (name: string) => Promise<string[][]>;
  before?: (directory: DirectoryServer) => void;
};

/** Starts a commercial gateway with its own database and a directory of organisations. */
export async function startCommercialSite({
  env = {},
  now,
  meterMs,
  resolveTxt,
  before,
}: SiteOptions = {}): Promise<CommercialSite> {
  const database = await createTestDatabase({ serviceDir, schema: 'commercial' });
  const directory = new DirectoryServer();
  before?.(directory);
  const siblingUrl = await directory.listen();
  const config = commercialConfigFrom({
    NODE_ENV: 'development',
    DATABASE_URL: database.url,
    GOV_COMMERCIAL_PORT: '0',
    GOV_CONTROL_PLANE_URL: siblingUrl,
    GOV_GATEWAY_URL: siblingUrl,
    GOV_GATEWAY_PUBLIC_URL: publicUrl,
    GOV_GOVERNANCE_URL: siblingUrl,
    GOV_SERVICE_API_KEY: serviceKey,
    GOV_ASSERTION_KEYS: encodeBase64Url(gatewayKey.publicKey),
    GOV_RATE_LIMITS: '0',
    ...env,
  });
  const log = createLogger({ service: 'commercial-gateway', silent: process.env['TEST_LOG'] === undefined });
  const gateway = await startCommercialGateway(config, {
    ...{ log, ...(now && { now }), ...(resolveTxt && { resolveTxt }) },
    ...(meterMs && { meterMs }),
    // A pass of the worker would lease the rows of a pass of the test. After its first pass, the worker waits.
    billingMs: 86_400_000,
  });
  const clientOf = (bearer: string | null, delegation?: string) =>
    createClient(commercialRoutes, {
      baseUrl: gateway.url,
      headers: (): Record<string, string> => ({
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(delegation === undefined ? {} : { [speakingHeaders.gateway]: delegation }),
      }),
    });
  const clock = now ?? (() => new Date());
  const signer = createAssertionSigner(signingKey(), clock);
  return {
    database,
    directory,
    gateway,
    as: async (userId, signedInSecondsAgo = 0) => {
      const auth_time = Math.floor(clock().getTime() / 1_000) - signedInSecondsAgo;
      return clientOf(await signer.signPerson({ sub: userId, sid: signInId, auth_time }, 'commercial-gateway'));
    },
    tokenOf: (userId) => {
      const auth_time = Math.floor(clock().getTime() / 1_000);
      return signer.signPerson({ sub: userId, sid: signInId, auth_time }, 'commercial-gateway');
    },
    asAtControlPlane: async (userId) => {
      const auth_time = Math.floor(clock().getTime() / 1_000);
      return clientOf(await signer.signPerson({ sub: userId, sid: signInId, auth_time }, 'control-plane'));
    },
    asBasic: async (caller, signedInSecondsAgo = 0) => {
      const auth_time = Math.floor(clock().getTime() / 1_000) - signedInSecondsAgo;
      const person = { sid: signInId, auth_time, ...caller };
      const delegation = await signer.signDelegation(person, 'commercial-gateway');
      return clientOf(await signer.signPerson(person, 'commercial-gateway'), delegation);
    },
    asKey: async (key, audience = 'commercial-gateway') =>
      clientOf(await signer.signKey(key, audience), await signer.signKeyDelegation(key, 'commercial-gateway')),
    anonymous: clientOf(null),
    sibling: clientOf(serviceKey),
    stop: async () => {
      await gateway.stop();
      await directory.close();
      await database.drop();
    },
  };
}

function signingKey() {
  const key = readAssertionKey(gatewayKey.privateKeyPem);
  if (key === null) throw new Error('The key of these tests is not an Ed25519 key');
  return key;
}
