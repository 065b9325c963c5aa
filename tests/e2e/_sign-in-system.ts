import { fileURLToPath } from 'node:url';
import { controlPlaneConfigFrom, startControlPlane, type StartedControlPlane } from '@countersign/control-plane';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { freePort } from '@countersign/local';
import pg from 'pg';
import { Tab } from './_tab.ts';

const services = fileURLToPath(new URL('../../services/', import.meta.url));
export const serviceKey = 'service-key-'.repeat(4);

type Variables = { gateway?: Record<string, string>; controlPlane?: Record<string, string> };

/** A gateway and a control plane with an adjustable clock, for browsers and programs. */
export class SignInSystem {
  /** The time by which the clock is ahead. */
  aheadMs = 0;
  readonly gateway: StartedGateway;
  readonly controlPlane: StartedControlPlane;
  readonly #databases: { gateway: TestDatabase; controlPlane: TestDatabase };
  #people = 0;

  private constructor(started: Pick<SignInSystem, 'gateway' | 'controlPlane'>, databases: Databases) {
    this.gateway = started.gateway;
    this.controlPlane = started.controlPlane;
    this.#databases = databases;
  }

  static async start(variables: Variables = {}): Promise<SignInSystem> {
    const databases = {
      gateway: await createTestDatabase({ serviceDir: `${services}gateway`, schema: 'gateway' }),
      controlPlane: await createTestDatabase({ serviceDir: `${services}control-plane`, schema: 'control_plane' }),
    };
    const clock: { of: SignInSystem | null } = { of: null };
    const now = () => new Date(Date.now() + (clock.of?.aheadMs ?? 0));
    const started = await startServices(databases, { now, variables });
    clock.of = new SignInSystem(started, databases);
    return clock.of;
  }

  async stop(): Promise<void> {
    await this.controlPlane.stop();
    await this.gateway.stop();
    await Promise.all([this.#databases.gateway.drop(), this.#databases.controlPlane.drop()]);
  }

  newTab(): Tab {
    return new Tab(this.gateway.url);
  }

  newAddress(): string {
    return `person-${++this.#people}@example.org`;
  }

  /** A browser with a new signed-in person. */
  async signedIn(email = this.newAddress()): Promise<{ tab: Tab; email: string }> {
    const tab = this.newTab();
    const { status } = await tab.signIn(email);
    if (status !== 200) throw new Error(`${email} was not signed in: ${status}`);
    return { tab, email };
  }

  /** Runs a statement as an administrator, without the service. */
  async inControlPlane<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
    const { adminUrl } = this.#databases.controlPlane;
    const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=control_plane' });
    await client.connect();
    const { rows } = await client.query<Row>(statement).finally(() => client.end());
    return rows;
  }
}

type Databases = { gateway: TestDatabase; controlPlane: TestDatabase };

async function startServices(databases: Databases, { now, variables }: { now: () => Date; variables: Variables }) {
  const assertionKey = generateSigningKey();
  const controlPlanePort = String(await freePort());
  const shared = {
    GOV_SERVICE_API_KEY: serviceKey,
    NODE_ENV: 'development',
    GOV_RATE_LIMITS: '0',
    GOV_LOG_LEVEL: 'silent',
  };
  const gateway = await startGateway(
    gatewayConfigFrom({
      ...shared,
      DATABASE_URL: databases.gateway.url,
      GOV_GATEWAY_PORT: '0',
      GOV_SESSION_SECRET: 'session-secret-'.repeat(3),
      GOV_ASSERTION_KEY: assertionKey.privateKeyPem,
      GOV_CONTROL_PLANE_URL: `http://127.0.0.1:${controlPlanePort}`,
      GOV_RUN_WORKERS: '0',
      ...variables.gateway,
    }),
    { now },
  );
  const controlPlane = await startControlPlane(
    controlPlaneConfigFrom({
      ...shared,
      DATABASE_URL: databases.controlPlane.url,
      GOV_CONTROL_PLANE_PORT: controlPlanePort,
      GOV_GATEWAY_URL: gateway.url,
      GOV_GOVERNANCE_URL: 'http://127.0.0.1:1',
      GOV_ASSERTION_KEYS: encodeBase64Url(assertionKey.publicKey),
      GOV_SESSION_SECRET: 'console-secret-'.repeat(3),
      GOV_TRUSTED_PROXIES: '1',
      ...variables.controlPlane,
    }),
    { now },
  );
  return { gateway, controlPlane };
}
