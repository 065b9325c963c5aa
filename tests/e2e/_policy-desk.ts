import { expect } from '@jest/globals';
import { WhatIfReport, type CompiledDraft } from '@countersign/contracts/control-plane';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { untilAnswered } from '@countersign/testkit/until';
import { joined, personAt, type Person } from './_signed-in.ts';
import { tagOf, type Tab, type Report } from './_tab.ts';

export type Members = Record<string, unknown>;
export type Reported = { id: string; report: WhatIfReport };

/** An owner at the policy of their workspace, with one agent that calls. */
export class PolicyDesk {
  readonly owner: Person;
  readonly #gatewayUrl: string;
  readonly #key: string;

  private constructor(gatewayUrl: string, owner: Person, key: string) {
    this.#gatewayUrl = gatewayUrl;
    this.owner = owner;
    this.#key = key;
  }

  static async open(gatewayUrl: string, email: string): Promise<PolicyDesk> {
    const owner = await personAt(gatewayUrl, email);
    const { key } = (await owner.client.createApiKey({ body: { name: 'crawler' } as never })).body; // the schema adds defaults
    return new PolicyDesk(gatewayUrl, owner, key);
  }

  async colleague(email: string, role: 'member' | 'partner'): Promise<Person> {
    return await joined(this.owner, await personAt(this.#gatewayUrl, email), role);
  }

  async makeOwner({ tab }: Person): Promise<void> {
    const { workspaceId } = this.owner;
    const userId = String((await tab.send('/api/session')).body['user_id']);
    const path = `/api/workspaces/${workspaceId}/members/${userId}`;
    const made = await this.owner.tab.send(path, { method: 'PUT', body: { role: 'owner' } });
    expect([made.status, made.body]).toEqual([200, { user_id: userId, role: 'owner' }]);
  }

  async call(members: object): Promise<Members> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ action: 'tool.call', session_id: 'crawl', args: {}, ...members });
    const response = await fetch(new URL('/api/v1/evaluate', this.#gatewayUrl), { method: 'POST', headers, body });
    return (await response.json()) as Members;
  }

  send(path: string, how: Parameters<Tab['send']>[1] = {}, who = this.owner): Promise<Report> {
    return who.tab.send(`/api/v1/workspaces/${this.owner.workspaceId}/policy/${path}`, how);
  }

  async inForce(): Promise<Members & { bundle: PolicyBundle; policy_hash: string; epoch: number }> {
    return (await this.send('active')).body as never; // the contract has this type
  }

  async write(bundle: object | string): Promise<void> {
    const body = { text: typeof bundle === 'string' ? bundle : JSON.stringify(bundle) };
    const headers = { 'if-match': tagOf(await this.send('draft')) };
    expect((await this.send('draft', { method: 'PUT', body, headers })).status).toBe(200);
  }

  async compile(): Promise<CompiledDraft> {
    const compiled = await this.send('compile', { method: 'POST' });
    expect(compiled.status).toBe(200);
    return compiled.body as CompiledDraft;
  }

  async draft(bundle: object | string): Promise<CompiledDraft> {
    await this.write(bundle);
    return await this.compile();
  }

  async report(policy_hash: string | null): Promise<Reported> {
    const { status, body } = await this.send('what-if', { method: 'POST', body: { policy_hash } });
    expect(status).toBe(202);
    const id = String(body['report_id']);
    const done = await untilAnswered(async () => {
      const { body: job } = await this.send(`what-if/${id}`);
      return ['done', 'failed'].includes(String(job['state'])) && job;
    });
    expect(done['failure']).toBeNull();
    return { id, report: WhatIfReport.parse(done['report']) };
  }

  async activate(
    policy_hash: string | null,
    { id, report }: Reported,
    { base, who }: { base?: string; who?: Person } = {},
  ) {
    const body = { policy_hash, report_id: id, acknowledge_widened: report.widened.length };
    const headers = { 'if-match': base ?? tagOf(await this.send('active')) };
    return await this.send('activate', { method: 'POST', body, headers }, who);
  }

  /** The bundle in force under another name, without the rules that restrict agents. */
  async loosened(name: string): Promise<PolicyBundle> {
    const { rules, ...bundle } = (await this.inForce()).bundle;
    const snapshot = ['deny-destructive', 'escalate-hard-to-undo'];
    return { ...bundle, name, rules: rules.filter(({ id }) => !snapshot.includes(id)), tests: [] };
  }
}
