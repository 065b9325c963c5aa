import { randomUUID } from 'node:crypto';
import { ApprovalId, PrincipalId, TenantId } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { argsCipher } from '../src/controls/approvals/args-cipher.ts';
import { approvalWaits } from '../src/doors/mcp/approval-waits.ts';
import { OpenStreams } from '../src/doors/mcp-session/open-streams.ts';
import { Questions } from '../src/doors/mcp-session/questions.ts';
import { SessionSettings } from '../src/doors/mcp-session/settings.ts';

const ownerOf = (tenant: string, principal: string) => ({
  tenant: TenantId.parse(tenant),
  principal: PrincipalId.parse(principal),
  id: randomUUID(),
});

const approval = `apr_${'0'.repeat(26)}`;
const notices = { listen: () => Promise.resolve(), send: () => Promise.resolve() };

describe('the limits of a kernel for sessions of MCP clients', () => {
  it('leave half of the event streams to other tenants', () => {
    const streams = new OpenStreams();
    const open = (tenant: string, principal: string) => streams.enter(ownerOf(tenant, principal), () => undefined);
    for (let nth = 0; nth < 256; nth += 1) open('acme', `agent-${nth}`);
    expect(() => open('acme', 'one-more')).toThrow('Too many event streams are open');
    expect(() => open('globex', 'agent')).not.toThrow();
  });

  it('limit how often all event streams of a tenant read its lists', () => {
    const streams = new OpenStreams();
    const places = Array.from({ length: 100 }, (_, nth) => streams.enter(ownerOf('acme', `p-${nth}`), () => undefined));
    expect(streams.enter(ownerOf('globex', 'agent'), () => undefined).pauseMs()).toBe(40);
    expect(places[0]?.pauseMs()).toBe(4_000);
    for (const { leave } of places.slice(1)) leave();
    expect(places[0]?.pauseMs()).toBe(40);
  });

  it('leave half of the questions to other tenants', async () => {
    const cipher = argsCipher('a secret of this test');
    const questions = new Questions({ cipher, notices, kernel: 'this', nowMs: () => 0, waitMs: 60_000 });
    const stop = new AbortController();
    const ids: string[] = [];
    const ask = (tenant: string, principal: string) =>
      questions.ask(ownerOf(tenant, principal), {
        signal: stop.signal,
        send: async (id) => void (await Promise.resolve(ids.push(id))),
      });
    const open = Array.from({ length: 128 }, (_, nth) => ask('acme', `agent-${nth}`));
    expect(await ask('acme', 'one-more')).toEqual({ kind: 'failed', problem: expect.stringContaining('Too many') });
    const foreign = ask('globex', 'agent');
    questions.beginClose();
    expect(await foreign).toEqual({ kind: 'failed', problem: 'The kernel is stopping.' });
    expect(ids).toHaveLength(129);
    await Promise.all(open);
  });

  it('leave half of the waits for approvals to other tenants', async () => {
    const approvalOf = (tenant: string) => ({ tenant: TenantId.parse(tenant), id: ApprovalId.parse(approval) });
    const { isGranted } = approvalWaits({ findState: () => Promise.resolve('approved'), waitMs: 60_000 });
    const { signal } = new AbortController();
    const waiting = Array.from({ length: 32 }, () => isGranted(approvalOf('acme'), signal));
    expect(await isGranted(approvalOf('acme'), signal)).toBe(false);
    expect(await isGranted(approvalOf('globex'), signal)).toBe(true);
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => true));
    expect(await isGranted(approvalOf('acme'), signal)).toBe(true);
  });

  it('pass an answer to another kernel on once, however its id is spelled', async () => {
    const cipher = argsCipher('a secret of this test');
    const sent: unknown[] = [];
    const counting = { ...notices, send: async (notice: unknown) => void (await Promise.resolve(sent.push(notice))) };
    const deps = { cipher, nowMs: () => 0, waitMs: 60_000 };
    const asking = new Questions({ ...deps, notices, kernel: 'that' });
    const owner = ownerOf('acme', 'agent');
    const id = await new Promise<string>((resolve) => {
      void asking.ask(owner, { signal: new AbortController().signal, send: (of) => Promise.resolve(resolve(of)) });
    });
    asking.beginClose();
    const receiving = new Questions({ ...deps, notices: counting, kernel: 'this' });
    const result = { action: 'decline' };
    for (const spelled of [id, id, `${id}=`, `${id} `, `.${id}`])
      await receiving.answer(owner, { jsonrpc: '2.0', id: spelled, result });
    expect(sent).toHaveLength(1);
  });

  it('drop the settings of the tenant with the most sessions first', async () => {
    const settings = new SessionSettings(notices, 'this');
    const [foreign, first] = [ownerOf('globex', 'agent'), ownerOf('acme', 'agent')];
    for (const owner of [foreign, first]) await settings.setLevel(owner, 'error');
    for (let nth = 0; nth < 10_000; nth += 1) await settings.setLevel(ownerOf('acme', 'agent'), 'debug');
    expect([settings.of(foreign).level, settings.of(first).level]).toEqual(['error', 'info']);
  });
});
