import type { AnyRoute } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url } from '@countersign/crypto';
import type { Signer } from '@countersign/crypto/signing';
import { starterPolicy, type TestKernel } from './_kernel.ts';
import { signedBody } from './_policies.ts';
import { allRoutes, credentialsFor, type RawCall } from './_raw.ts';
import { newSession, seal } from './_seal.ts';

type Sample = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  form?: Record<string, string>;
  headers?: object;
};

/** A well-formed call of every route that is not marked as governed; a new one needs its sample here before it is answered. */
export async function ungovernedCalls(test: TestKernel, approver: Signer): Promise<RawCall[]> {
  const samples = await samplesFor(test, approver);
  return allRoutes.filter(({ governed }) => governed !== true).map((route) => callOf(route, samples));
}

function callOf(route: AnyRoute, { ids, byOperation }: Awaited<ReturnType<typeof samplesFor>>): RawCall {
  const { params, query, body, form, headers }: Sample = byOperation[route.operation] ?? {};
  return {
    route,
    params: { ...ids, ...params },
    headers: {
      ...credentialsFor(route),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
  };
}

async function samplesFor(test: TestKernel, approver: Signer) {
  const client = test.as('acme', 'agent');
  const { receipt, receipt_id, record_id } = await seal(test);
  const { checkpoint_id, tree_size } = (await client.createCheckpoint()).body;
  const question = { action: 'tool.call', tool: 'files.write', session_id: newSession(), reason: 'for a test' };
  const asked = async (tool: string) => {
    const body = { ...question, tool } as never; // the defaults are the kernel's to fill in
    return (await client.createApproval({ body })).body;
  };
  const { key_id } = (await client.createAccessKey({ body: { kind: 'approver', principal_id: 'dave' } as never })).body;
  await test.setFence('tenant:fenced', 'freeze');
  const [denied, signed, shownOnPage] = [await asked('first'), await asked('second'), await asked('third')];
  const { payload, signature, receipt_hash } = receipt;
  const shown = { receipt: { payload, signature }, expected_receipt_hash: receipt_hash };
  const newcomers = signedBody(test.kernel, { tenant: 'newcomer', bundle: starterPolicy, epoch: 1 });
  const byOperation: Record<string, Sample> = {
    'export-receipts': { query: { session_id: payload.session_id } },
    'get-inclusion-proof': { query: { receipt_id } },
    'get-consistency-proof': { query: { from: '1', to: String(tree_size) } },
    'verify-demo': { body: shown },
    'tamper-demo': { body: shown },
    'create-approval': { body: question },
    'transition-approval': {
      params: { approval_id: denied.approval_id, action: 'deny' },
      headers: { 'if-match': `"${denied.ceremony_hash}"`, 'x-gov-principal-id': 'carol' },
      body: {},
    },
    'approve-by-kernel': { body: signedApproval(signed, approver) },
    ...(await pageSamples(test, shownOnPage)),
    'create-access-key': { body: { kind: 'approver', principal_id: 'carol' } },
    'put-budget': { body: { subject: 'principal:nobody', window: 'total', tool_call_limit: 1 } },
    'put-ceiling': {
      params: { tenant: 'newcomer', ceiling_id: 'ceiling.tested' },
      body: { version: 1, subject: 'tenant', window: 'month', tool_call_limit: 1 },
    },
    'put-tool-blocks': { params: { tenant: 'newcomer' }, body: { version: 1, tools: ['files.write'] } },
    'put-fence': {
      params: { scope: 'tenant:newcomer' },
      body: { kind: 'freeze', epoch: 1, reason: 'for a test', set_by: 'carol' },
    },
    'get-fence': { params: { scope: 'tenant:fenced' } },
    'put-policy-bundle': { params: { tenant: 'newcomer' }, body: newcomers },
  };
  return { ids: { receipt_id, record_id, checkpoint_id, key_id, budget_id: 'nobodys' }, byOperation };
}

async function pageSamples(
  { kernel: { context }, as }: TestKernel,
  approval: Approval,
): Promise<Record<string, Sample>> {
  const { approval_id: id, ceremony_hash: ceremonyHash } = approval;
  const body = { kind: 'approver', principal_id: 'erin' } as never; // the defaults are the kernel's to fill in
  const { key } = (await as('acme', 'agent').createAccessKey({ body })).body;
  const [cookie = ''] = (await context.approverSessions.open(key)).split(';');
  const session = await context.approverSessions.find(cookie);
  if (session === null) throw new Error('The session was not taken');
  const token = context.approverSessions.csrfToken(session, { id, action: 'decide', ceremonyHash });
  return {
    'sign-in-approver': { form: { key, approval_id: id } },
    'sign-out-approver': { form: { approval_id: id, csrf_token: token } },
    'vote-on-page': {
      params: { approval_id: id },
      form: { decision: 'approve', ceremony_hash: ceremonyHash, csrf_token: token },
      headers: { cookie },
    },
  };
}

function signedApproval(
  { approval_id, tenant_id, intent_hash, judged_hash, policy_hash, ceremony_hash }: Approval,
  approver: Signer,
) {
  const question = { approval_id, tenant_id, intent_hash, judged_hash, policy_hash, ceremony_hash };
  const statement = { type: 'countersign.approval.v1', ...question, approver_id: 'carol', decision: 'approve' };
  return { statement, key_id: 'carol-key', signature: encodeBase64Url(approver.sign(canonicalBytes(statement))) };
}
