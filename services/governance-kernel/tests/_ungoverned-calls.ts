import type { AnyRoute, ApprovalId, Digest, PrincipalId } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url } from '@countersign/crypto';
import type { Signer } from '@countersign/crypto/signing';
import { runConformance } from './_conformance.ts';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { TestAgent } from './_agents.ts';
import { envelopeSamples, hostSamples, trustSamples } from './_evidence-samples.ts';
import { starterPolicy, type TestKernel } from './_kernel.ts';
import { askPack } from './_pack.ts';
import { signedBody } from './_policies.ts';
import type { ApproverSession } from '../src/doors/approver-pages/sessions.ts';
import { Approver } from './_passkeys.ts';
import { allRoutes, credentialsFor, type RawCall, type Sample } from './_raw.ts';
import { newSession, seal } from './_seal.ts';
import { serverSamples } from './_server-samples.ts';
import type { Root } from './_trust.ts';

/** Parts of the kernel's configuration: an approver's key, the trust root, and a note server that tenants may add. */
type Options = { approver: Signer; root: Root; notesUrl: string };

/**
 * A well-formed call of every route that is not governed. The calls must be sent in the order of the samples, because
 * the signature counter of a passkey must rise. Each new route needs a sample here.
 */
export async function ungovernedCalls(test: TestKernel, options: Options): Promise<RawCall[]> {
  const samples = await samplesFor(test, options);
  const order = Object.keys(samples.byOperation);
  const placeOf = ({ operation }: AnyRoute) => (order.includes(operation) ? order.indexOf(operation) : order.length);
  return allRoutes
    .filter(({ governed }) => governed !== true)
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .map((route) => callOf(route, samples));
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

async function samplesFor(test: TestKernel, { approver, root, notesUrl }: Options) {
  const client = test.as('acme', 'agent');
  const { receipt, receipt_id, record_id } = await seal(test);
  const { checkpoint_id, tree_size } = (await client.createCheckpoint()).body;
  const question = { action: 'tool.call', tool: 'files.write', session_id: newSession(), reason: 'for a test' };
  const ask = async (tool: string) => {
    const body = { ...question, tool } as never; // the kernel fills in the defaults
    return (await client.createApproval({ body })).body;
  };
  const { key_id } = (await client.createAccessKey({ body: { kind: 'approver', principal_id: 'dave' } as never })).body;
  await test.setFence('tenant:fenced', 'freeze');
  const limited = { subject: 'principal:nobody', window: 'total', tool_call_limit: 1 } as never; // as above
  await client.putBudget({ params: { budget_id: 'shown' }, body: limited });
  const now = test.kernel.context.clock().toISOString();
  const noCeilings = { version: 1, rules: [], needs_decision: false, set_by: 'carol' as PrincipalId }; // matches the schema
  await test.system.putPolicyCeilings({ params: { tenant: 'ceiled' }, body: noCeilings });
  const draft = { bundle: parsePolicyBundle(starterPolicy), set_by: 'carol' as PrincipalId }; // as above
  await test.system.putShadowLane({ params: { tenant: 'ceiled', lane: 'draft' }, body: draft });
  const viewer = { object: 'document:42', relation: 'viewer', subject: 'agent:agent' };
  const batch = { tenant_id: 'acme', writes: [viewer] } as never; // as above
  const { snapshot_id } = (await test.system.writeRelationships({ body: batch })).body;
  const [denied, signed, shownOnPage] = [await ask('first'), await ask('second'), await ask('third')];
  const withdrawn = await ask('fourth');
  const { payload, signature, receipt_hash } = receipt;
  const shown = { receipt: { payload, signature }, expected_receipt_hash: receipt_hash };
  const evidence = await (await askPack(test.kernel.url, { sessions: [payload.session_id] }, 'acme')).text();
  const newcomers = signedBody(test.kernel, { tenant: 'newcomer', bundle: starterPolicy, epoch: 1 });
  const byOperation: Record<string, Sample> = {
    'export-receipts': { query: { session_id: payload.session_id } },
    'export-evidence': { body: {} },
    'verify-evidence': { body: { evidence } },
    'verify-replay': { body: { evidence } },
    'get-graph-receipt': { params: { receipt_hash } },
    'list-graph-receipts': { params: { session_id: payload.session_id } },
    'get-inclusion-proof': { query: { receipt_id } },
    'get-tlog-proof': { query: { receipt_id } },
    'get-consistency-proof': { query: { from: '1', to: String(tree_size) } },
    'verify-demo': { body: shown },
    'tamper-demo': { body: shown },
    'create-approval': { body: question },
    'transition-approval': {
      params: { approval_id: denied.approval_id, action: 'deny' },
      headers: { 'if-match': `"${denied.ceremony_hash}"`, 'x-gov-principal-id': 'carol' },
      body: {},
    },
    'get-approval-context': { params: { approval_id: denied.approval_id } },
    'withdraw-approval': {
      params: { approval_id: withdrawn.approval_id },
      headers: { 'x-gov-principal-id': withdrawn.requested_by },
      body: {},
    },
    'approve-by-kernel': { body: signedApproval(signed, approver) },
    ...(await passkeySamples(test, signed)),
    ...(await pageSamples(test, shownOnPage)),
    'create-access-key': { body: { kind: 'approver', principal_id: 'carol' } },
    ...(await identitySamples(test)),
    'put-budget': { body: { subject: 'principal:nobody', window: 'total', tool_call_limit: 1 } },
    'put-ceiling': {
      params: { tenant: 'newcomer', budget_id: 'ceiling.tested' },
      body: { version: 1, subject: 'tenant', window: 'month', tool_call_limit: 1 },
    },
    'get-budget': { params: { tenant: 'acme', budget_id: 'shown' } },
    'record-budget-usage': {
      params: { tenant: 'acme', budget_id: 'shown' },
      body: { event_id: 'e1', occurred_at: now, tool_calls: 1 },
    },
    'end-approvals': { params: { tenant: 'newcomer' }, body: { person: 'carol', reason: 'for a test' } },
    'put-members': {
      params: { tenant: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
      body: { version: 1, members: [{ user_id: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', role: 'owner' }] },
    },
    'put-tool-blocks': { params: { tenant: 'newcomer' }, body: { version: 1, tools: ['files.write'] } },
    'put-fence': {
      params: { scope: 'tenant:newcomer' },
      body: { kind: 'freeze', epoch: 1, reason: 'for a test', set_by: 'carol' },
    },
    'put-tenant': { params: { tenant: 'newcomer' }, body: { version: 1, org_id: 'newcomers' } },
    'get-model': { params: { model: 'countersign-scripted-model' } },
    'get-console-surface': { params: { surface_id: 'budgets' } },
    'get-fence': { params: { scope: 'tenant:fenced' } },
    'put-policy-ceilings': { params: { tenant: 'newcomer' }, body: noCeilings },
    'get-policy-ceilings': { params: { tenant: 'ceiled' } },
    'write-relationships': { body: { tenant_id: 'newcomer', writes: [viewer] } },
    'put-permission-model': {
      params: { tenant: 'newcomer' },
      body: { types: { document: { permissions: { read: 'relations.viewer' } } } },
    },
    'check-relation': { body: viewer },
    ...accessSamples(),
    'export-telemetry': { body: { tenant_id: 'acme', receipt_ids: [receipt_id] } },
    'run-conformance': { body: { scope: 'short' } },
    'get-policy-in-force': { params: { tenant: 'acme' } },
    'get-policy-bundle': { params: { tenant: 'acme', policy_hash: receipt.payload.policy_hash ?? '' } },
    'list-ledger-entries': { params: { tenant: 'acme' } },
    'list-metered-receipts': { params: { tenant: 'acme' }, query: { from: '0' } },
    'list-subject-relations': { params: { tenant: 'acme' }, query: { subject: 'user:ann' } },
    'put-shadow-lane': { params: { tenant: 'newcomer', lane: 'draft' }, body: draft },
    'delete-shadow-lane': { params: { tenant: 'ceiled', lane: 'draft' } },
    'create-activation-signature': { params: { tenant: 'decided' }, body: (await decidedChange(test, 'decided')).body },
    'confirm-activation': { params: { tenant: 'confirmed' }, body: await activatedChange(test) },
    'put-policy-bundle': { params: { tenant: 'newcomer' }, body: newcomers },
    ...(await serverSamples(test, notesUrl)),
    'get-seen-agent': { params: { principal: payload.principal_id } },
    ...(await envelopeSamples(test, receipt_hash)),
    ...(await hostSamples(test)),
    ...(await trustSamples(test, root)),
  };
  const { report_id } = (await runConformance(test, 'short')).report;
  return {
    ids: { receipt_id, record_id, checkpoint_id, key_id, report_id, snapshot_id, budget_id: 'nobodys' },
    byOperation,
  };
}

/** A policy change that is decided but not signed. */
async function decidedChange(test: TestKernel, tenant: string) {
  const changes = `\n  - { id: changes, effect: allow, match: { action: [policy.change] } }\ntools:`;
  await test.activate(tenant, starterPolicy.replace('\ntools:', changes));
  const bundle = parsePolicyBundle(starterPolicy);
  const policy_hash = compilePolicy(bundle, nodeProvider).hash;
  const report_hash = `sha256:${'2'.repeat(64)}`;
  const change = { action: 'policy.change', resource: `policy/${policy_hash}?report=${report_hash}` };
  const body = { ...change, session_id: newSession() } as never; // the kernel fills in the defaults
  const { decision_id } = (await test.as(tenant).evaluate({ body })).body;
  return { bundle, body: { decision_id, policy_hash, report_hash, epoch: 2 } };
}

/** A policy change that is decided, signed and active. */
async function activatedChange(test: TestKernel): Promise<object> {
  const params = { tenant: 'confirmed' };
  const { bundle, body } = await decidedChange(test, params.tenant);
  const { epoch, confirmed_at, signature } = (await test.system.createActivationSignature({ params, body })).body;
  await test.system.putPolicyBundle({ params, body: { bundle, epoch, confirmed_at, signature } });
  return { decision_id: body.decision_id };
}

/**
 * Samples of people with passkeys. They have their own tenant, because its first passkey changes the terms of votes.
 */
async function passkeySamples(test: TestKernel, { session_id }: Approval): Promise<Record<string, Sample>> {
  const of = 'passkeys';
  await test.activate(of, starterPolicy);
  const [anna, ben, cora, emma] = ['anna', 'ben', 'cora', 'emma'].map((name) => new Approver(test, name, of));
  if (!anna || !ben || !cora || !emma) throw new Error('there are four');
  for (const person of [anna, ben, cora, emma]) await person.enrol();
  const question = { action: 'tool.call', tool: 'files.write', session_id, reason: 'for a test' };
  const ask = async () => (await test.as(of, 'agent').createApproval({ body: question as never })).body.approval_id;
  const [first, second, third, fourth] = [await ask(), await ask(), await ask(), await ask()];
  const vote = await anna.challenge(second);
  const voucher = (await anna.client.challengeVoucher({ params: ben.place })).body;
  const enrolment = (await test.as(of, 'dora').registerPasskey({ params: { principal: 'dora' } })).body;
  const by = (principal: string) => ({ 'x-gov-tenant-id': of, 'x-gov-principal-id': principal });
  return {
    'challenge-approval': { params: { approval_id: first }, headers: by('anna'), body: {} },
    'assert-approval': {
      params: { approval_id: second },
      headers: by('anna'),
      body: { challenge_id: vote.challenge_id, assertion: anna.authenticator.get(vote.challenge) },
    },
    'register-passkey': { params: { principal: 'emil' }, headers: by('operator') },
    'verify-passkey': {
      params: { principal: 'dora' },
      headers: by('dora'),
      body: { attestation: new Approver(test, 'dora', of).authenticator.create(enrolment.challenge) },
    },
    'list-passkeys': { params: { principal: 'anna' }, headers: by('anna') },
    'challenge-voucher': { params: cora.place, headers: by('anna') },
    'vouch-for-passkey': {
      params: ben.place,
      headers: by('anna'),
      body: { assertion: anna.authenticator.get(voucher.challenge) },
    },
    'accept-passkey': {
      params: { tenant: of, credential_id: cora.id },
      body: { reason: 'for a test', accepted_by: 'operator' },
    },
    'revoke-passkey': { params: emma.place, headers: by('anna') },
    ...(await signInSamples(test)),
    'put-approval-terms': { params: { tenant: 'newcomer' }, body: { version: 1, signatures_only: false } },
    // These samples are sent last, because the signature counter of a passkey must rise.
    ...(await passkeyPageSamples(test, anna, [third, fourth])),
  };
}

/** Sample calls of another service, which signs kim in with a passkey and revokes the passkey of lea. */
async function signInSamples(test: TestKernel): Promise<Record<string, Sample>> {
  const tenant = 'signs-in';
  await test.activate(tenant, starterPolicy);
  const [kim, lea] = [new Approver(test, 'kim', tenant), new Approver(test, 'lea', tenant)];
  for (const person of [kim, lea]) await person.enrol();
  const { statement, options } = (await test.system.challengeSignIn()).body;
  const assertion = kim.authenticator.get(String(options['challenge']), { origin: statement.origin });
  const of = ({ id }: Approver) => ({ tenant, credential_id: id });
  return {
    'assert-sign-in': { params: of(kim), body: { principal_id: kim.principal, statement, assertion } },
    'revoke-own-passkey': { params: of(lea), body: { principal_id: lea.principal } },
  };
}

/** Passkey samples on pages, where the signed-in person is the owner of the passkey. */
async function passkeyPageSamples(
  test: TestKernel,
  anna: Approver,
  [shown, signed]: [ApprovalId, ApprovalId],
): Promise<Record<string, Sample>> {
  const of = 'passkeys';
  const { approverSessions: sessions } = test.kernel.context;
  const signedIn = async (principal: string) => {
    const body = { kind: 'approver', principal_id: principal } as never; // the kernel fills in the defaults
    const [cookie = ''] = (await sessions.open((await test.as(of).createAccessKey({ body })).body.key)).split(';');
    const session = await sessions.find(cookie);
    if (session === null) throw new Error('The session was not taken');
    return { session, headers: { cookie } };
  };
  const approver = await signedIn('anna');
  const decided = async (id: ApprovalId) => {
    const { body } = await test.as(of).listApprovals({ query: { limit: 200 } });
    const ceremony_hash = body.data.find(({ approval_id }) => approval_id === id)?.ceremony_hash as Digest;
    const form = { id, action: 'decide', ceremonyHash: ceremony_hash } as const;
    return { ceremony_hash, csrf_token: sessions.csrfToken(approver.session, form) };
  };
  const vote = await anna.challenge(signed);
  const assertion = anna.authenticator.get(vote.challenge);
  const [gina, hans] = [await signedIn('gina'), await signedIn('hans')];
  const enrolling = ({ session }: typeof gina) => ({
    csrf_token: sessions.csrfToken(session, { id: shown, action: 'enrol' }),
  });
  const { challenge } = (await test.as(of).registerPasskey({ params: { principal: 'hans' } })).body;
  const attestation = new Approver(test, 'hans', of).authenticator.create(challenge);
  const params = { approval_id: shown };
  const { headers } = approver;
  return {
    'challenge-on-page': { params, headers, body: { ...(await decided(shown)), decision: 'approve' } },
    'assert-on-page': {
      params: { approval_id: signed },
      headers,
      body: { ...(await decided(signed)), challenge_id: vote.challenge_id, assertion },
    },
    'register-on-page': { params, headers: gina.headers, body: enrolling(gina) },
    'verify-on-page': { params, headers: hans.headers, body: { ...enrolling(hans), attestation } },
    ...(await waitingSamples(test, anna, approver)),
  };
}

/** Samples of the page of waiting passkeys: a challenge for one passkey, and a voucher for another. */
async function waitingSamples(
  test: TestKernel,
  anna: Approver,
  { session, headers }: { session: ApproverSession; headers: Record<string, string> },
): Promise<Record<string, Sample>> {
  const { approverSessions: sessions } = test.kernel.context;
  const [ivan, jana] = [new Approver(test, 'ivan', 'passkeys'), new Approver(test, 'jana', 'passkeys')];
  for (const person of [ivan, jana]) await person.enrol();
  const named = ({ place, principal, id }: Approver) => {
    const form = { action: 'vouch', principal, credential: id } as const;
    return { principal_id: place.principal, credential_id: id, csrf_token: sessions.csrfToken(session, form) };
  };
  const { challenge } = (await anna.client.challengeVoucher({ params: jana.place })).body;
  return {
    'show-waiting-passkeys': { headers },
    'challenge-voucher-on-page': { headers, body: named(ivan) },
    'vouch-on-page': { headers, body: { ...named(jana), assertion: anna.authenticator.get(challenge) } },
  };
}

async function identitySamples(test: TestKernel): Promise<Record<string, Sample>> {
  const [holder, newcomer] = ['holder', 'newcomer'].map((principal) => new TestAgent(test, { principal }));
  if (holder === undefined || newcomer === undefined) throw new Error('there are two');
  await holder.enrol(test);
  const operator = test.as('acme', 'operator');
  const { principal } = newcomer;
  const named = (name: string, directory: 'agents' | 'operators') => ({ directory, principal: name });
  for (const key of [named(principal, 'agents'), named('leaver', 'operators')])
    await operator.putIdentity({ params: key, body: { display_name: 'for a test' } });
  const { nonce } = (await operator.createKeyChallenge({ params: { principal } })).body;
  return {
    'put-identity': { params: named('another', 'agents'), body: { display_name: 'Another' } },
    'revoke-identity': { params: named('leaver', 'operators') },
    'create-key-challenge': { params: { principal: holder.principal } },
    'enrol-identity-key': { params: { principal }, body: { proof: newcomer.proof(nonce) } },
    'revoke-identity-key': { params: { principal: holder.principal, kid: holder.kid } },
  };
}

function accessSamples(): Record<string, Sample> {
  const subject = { type: 'agent', id: 'agent' };
  const resource = { type: 'document', id: '42' };
  const body = { subject, resource, action: { name: 'read' } };
  return {
    'evaluate-access': { body },
    'evaluate-accesses': { body: { ...body, evaluations: [{}] } },
    'search-subjects': { body },
    'search-resources': { body },
    'search-actions': { body },
  };
}

async function pageSamples(
  { kernel: { context }, as }: TestKernel,
  approval: Approval,
): Promise<Record<string, Sample>> {
  const { approval_id: id, ceremony_hash: ceremonyHash } = approval;
  const body = { kind: 'approver', principal_id: 'erin' } as never; // the kernel fills in the defaults
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
