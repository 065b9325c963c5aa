import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { gatewayRoutes } from '@countersign/contracts/routes';
import type { Mailbox } from './_mailbox.ts';

type Decided = { verdict: string; reason_code: string; receipt: StoredReceipt };
export type Acknowledged = { key: string; receiptId: string };

/** A client that reaches only the gateway's port, with its own agent. */
export class Outsider {
  readonly client: Client<typeof gatewayRoutes>;
  readonly workspaceId: string;
  /** The last answer, for the message of a failure. */
  lastAnswer = '';
  readonly #url: string;
  readonly #token: string;
  readonly #agentKey: string;

  private constructor(
    url: string,
    had: { client: Client<typeof gatewayRoutes>; workspaceId: string; token: string; agentKey: string },
  ) {
    this.#url = url;
    this.client = had.client;
    this.workspaceId = had.workspaceId;
    this.#token = had.token;
    this.#agentKey = had.agentKey;
  }

  static async signIn(url: string, mailbox: Mailbox, email: string): Promise<Outsider> {
    const anonymous = createClient(gatewayRoutes, { baseUrl: url });
    await anonymous.requestEmailCode({ body: { email } });
    const code = mailbox.codeFor(email) ?? '';
    const { body } = await anonymous.verifyEmailCode({ body: { email, code } });
    const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
    const client = createClient(gatewayRoutes, { baseUrl: url, headers: () => headers });
    const made = await client.createApiKey({
      body: { name: 'agent', role: 'member', scopes: ['agent'], expiresInDays: 1 },
    });
    return new Outsider(url, { client, workspaceId: body.workspace.id, token: body.token, agentKey: made.body.key });
  }

  /** Requests a decision for the agent. `null` when there was no answer or a failure. */
  async evaluate(tool: string, key: string = randomUUID()): Promise<Decided | null> {
    const call = { action: 'tool.call', tool, session_id: 'deployed' };
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': key,
      authorization: `Bearer ${this.#agentKey}`,
    };
    const sent = { method: 'POST', headers, body: JSON.stringify(call), signal: AbortSignal.timeout(10_000) };
    const answered = await fetch(`${this.#url}/api/v1/evaluate`, sent).catch(() => null);
    this.lastAnswer = answered === null ? 'no answer' : `${answered.status} ${await answered.clone().text()}`;
    if (answered?.status !== 200) return null;
    return (await answered.json()) as Decided; // the test checks it
  }

  /** Sends calls until `stop`. Each call has its own key, and is repeated until it is acknowledged. */
  startCalling(): { stop(): Promise<Acknowledged[]> } {
    const acknowledged: Acknowledged[] = [];
    let isStopped = false;
    const callAgain = async () => {
      while (!isStopped) {
        const key = randomUUID();
        const decided = await this.#untilAnswered(key, () => isStopped);
        if (decided !== null) acknowledged.push({ key, receiptId: decided.receipt.payload.receipt_id });
      }
    };
    const calling = Promise.all([callAgain(), callAgain(), callAgain()]);
    return {
      stop: async () => {
        isStopped = true;
        await calling;
        return acknowledged;
      },
    };
  }

  /** Writes the evidence of the workspace and the public keys to files, for the verifier. */
  async keepEvidence(folder: string, from: string): Promise<{ verify(): { status: number | null; output: string } }> {
    const headers = { authorization: `Bearer ${this.#token}`, 'x-workspace-id': this.workspaceId };
    const read = async (path: string) => {
      const answered = await fetch(`${this.#url}${path}`, { headers });
      if (!answered.ok) throw new Error(`${path}: ${answered.status} ${await answered.text()}`);
      return await answered.text();
    };
    const to = new Date().toISOString();
    writeFileSync(`${folder}/export.ndjson`, await read(`/api/v1/receipts/export?from=${from}&to=${to}`));
    writeFileSync(`${folder}/keys.json`, await read('/api/v1/trust/keys'));
    const command = fileURLToPath(new URL('../../packages/verifier/dist/cli.js', import.meta.url));
    const args = [command, `${folder}/export.ndjson`, '--keys', `${folder}/keys.json`, '--tenant', this.workspaceId];
    return {
      verify: () => {
        const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
        return { status, output: stdout + stderr };
      },
    };
  }

  async #untilAnswered(key: string, isStopped: () => boolean): Promise<Decided | null> {
    for (;;) {
      const decided = await this.evaluate('crm.read', key);
      if (decided !== null || isStopped()) return decided;
      await new Promise((resolve) => setTimeout(resolve, 200)); // between two requests
    }
  }
}
