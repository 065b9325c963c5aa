import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startKernel, kernelConfigFrom, type StartedKernel } from '../src/index.ts';
import { openPolicy } from './_added-servers.ts';
import { clientOf } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
let second: StartedKernel;
beforeAll(async () => {
  upstreams = await startUpstreams();
  await upstreams.test.activate('*', openPolicy, 2);
  second = await startKernel(kernelConfigFrom(upstreams.test.env));
});
afterAll(async () => {
  await second.stop();
  await upstreams.close();
});

const profile = (tenant: string, terms: object) =>
  upstreams.test.as(tenant).putAuthProfile({
    params: { profile_id: 'notes' },
    body: { tenant_id: tenant, servers: ['notes'], ...terms },
  } as never);

type Input = { tool_name?: string; granted_scopes?: string[]; oauth_resource?: string; pinned_schema_hash?: string };

async function authorize(tenant: string, input: Input, kernel = upstreams.test.kernel) {
  const body = { server_id: 'notes', tool_name: 'read_note', args: { id: 'a' }, session_id: 'authorize', ...input };
  const { status, body: reply } = await clientOf(kernel, tenant).authorizeMcpCall({ query: {}, body: body as never });
  return { status, code: reply.reason_code, allow: reply.allow, record: reply.record_id };
}

describe('authorize-call', () => {
  it('answers with the sealed decision: 200 if the caller may send the call, otherwise 403', async () => {
    expect(await authorize('plain', {})).toMatchObject({ status: 200, allow: true, code: 'ALLOWED' });
    expect(await authorize('plain', { tool_name: 'nothing' })).toMatchObject({ status: 403, code: 'TOOL_UNKNOWN' });
    expect(upstreams.notes.calls).toEqual([]);
  });

  it('refuses a caller that expects a definition that differs from the pinned one', async () => {
    const { body } = await upstreams.test.as('plain').listRegisteredTools({ query: {} });
    const pinned = body.data.find(({ tool }) => tool === 'notes.read_note')?.pinned_hash ?? '';
    expect(await authorize('plain', { pinned_schema_hash: pinned })).toMatchObject({ status: 200 });
    const another = `sha256:${'0'.repeat(64)}`;
    expect(await authorize('plain', { pinned_schema_hash: another })).toMatchObject({
      status: 403,
      code: 'SCHEMA_DRIFT',
    });
  });

  it('denies a call that lacks a scope or the audience of a profile, on every kernel from its next decision on', async () => {
    const resource = 'https://notes.example/mcp';
    for (const kernel of [upstreams.test.kernel, second])
      expect(await authorize('scoped', {}, kernel)).toMatchObject({ allow: true });
    await profile('scoped', { required_scopes: ['notes'], tool_scopes: { read_note: ['read'] }, resource });
    const all = { granted_scopes: ['notes', 'read'], oauth_resource: resource };
    for (const kernel of [upstreams.test.kernel, second]) {
      expect(await authorize('scoped', all, kernel)).toMatchObject({ status: 200, allow: true });
      for (const lacking of [
        { ...all, granted_scopes: ['notes'] },
        { ...all, granted_scopes: ['read'] },
        { ...all, granted_scopes: ['notes', 'read', 'read_note'], oauth_resource: 'https://other.example/mcp' },
        {},
      ])
        expect(await authorize('scoped', lacking, kernel)).toMatchObject({ status: 403, code: 'INSUFFICIENT_SCOPE' });
    }
    expect(await authorize('another', {})).toMatchObject({ allow: true });
  });

  it('denies an agent that only claims the scopes of a profile, as do the other routes', async () => {
    await profile('closed', { required_scopes: ['notes'] });
    const { body: key } = await upstreams.test.as('closed').createAccessKey({
      body: { principal_id: 'agent:a', kind: 'agent' },
    } as never);
    const call = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' };
      const answer = await fetch(`${upstreams.test.kernel.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return JSON.stringify(await answer.json());
    };
    const args = { args: { id: 'a' }, session_id: 'closed' };
    const body = { server_id: 'notes', tool_name: 'read_note', granted_scopes: ['notes'], ...args };
    expect(await call('/api/v1/mcp/authorize-call', body)).toContain('INSUFFICIENT_SCOPE');
    expect(await call('/api/v1/evaluate', { action: 'tool.call', tool: 'notes.read_note', ...args })).toContain(
      'INSUFFICIENT_SCOPE',
    );
    expect(await call('/mcp/v1/execute', { tool: 'notes.read_note', ...args })).toContain('INSUFFICIENT_SCOPE');
    expect(upstreams.notes.calls).toEqual([]);
  });

  it('uses profiles that are listed with a hash of their terms', async () => {
    await profile('listed', { required_scopes: ['a'] });
    const list = async () =>
      (await upstreams.test.as('listed').listAuthProfiles({ query: { tenant_id: 'listed' } })).body.data;
    const [before] = await list();
    await profile('listed', { required_scopes: ['b'] });
    const [after] = await list();
    expect(after).toMatchObject({ profile_id: 'notes', required_scopes: ['b'] });
    expect(after?.profile_hash).not.toBe(before?.profile_hash);
  });
});
