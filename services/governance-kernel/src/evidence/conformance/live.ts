import type { SessionId } from '@countersign/contracts';
import {
  type CallStep,
  type LiveVector,
  type VectorResult,
  type VectorStep,
} from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import type { CryptoProvider } from '@countersign/crypto';
import { callFault, type TrustedKeys } from '@countersign/verifier';
import type { Arranged } from './arrange-tenant.ts';
import { askDoor, type DoorAnswer } from './ask-door.ts';
import { assertEvidence, assertNothingExecuted } from './evidence.ts';
import type { Executed } from './result.ts';
import { vectorPrincipal } from './tenants.ts';

/** The running kernel, as this run may call it. */
export type Site = {
  url: string;
  /** Grants access only to the tenants of vectors. */
  token: string;
  provider: CryptoProvider;
  trust: TrustedKeys;
  /** Another tenant of the run, which must see nothing of the vector's tenant. */
  stranger: string;
  /** Counts the allowed calls of a tenant that the kernel executes and has not settled. */
  countOpenCalls(tenant: string): Promise<number>;
  signal: AbortSignal;
};

type Running = Arranged & { site: Site; session: SessionId; seen: VectorResult['seen']; answers: DoorAnswer[][] };

/** Executes the steps of a vector in order. Stops at the first unexpected answer. */
export async function executeLive(
  site: Site,
  vector: LiveVector,
  arranged: Arranged & { session: SessionId },
): Promise<Executed> {
  const running: Running = { ...arranged, site, seen: [], answers: [] };
  try {
    for (const [index, step] of vector.steps.entries()) await take(running, index, step);
    await assertNothingExecuted(site, running);
    return { fault: null, seen: running.seen };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error), seen: running.seen };
  }
}

async function take(running: Running, index: number, step: VectorStep): Promise<void> {
  switch (step.do) {
    case 'call':
      return await takeCall(running, index, step);
    case 'answer':
      return await takeAnswer(running, index, step);
    case 'read':
      return await takeRead(running, index, step);
  }
}

async function takeCall(running: Running, index: number, step: CallStep): Promise<void> {
  const { site, tenant, session } = running;
  const grant = step.grant_of === undefined ? null : earlier(running, step.grant_of).approval_id;
  const { url, signal } = site;
  const call = { url, bearer: bearerOf(running, step.by), tenant, session, step, grant, signal };
  const answers = await Promise.all(Array.from({ length: step.times }, () => askDoor(call)));
  running.answers[index] = answers;
  for (const { status, verdict, reason_code, receipt_id } of answers)
    running.seen.push({ step: index, status, verdict, reason_code, receipt_id });
  const repeated = step.expect.repeats === undefined ? null : earlier(running, step.expect.repeats).decision_id;
  const fault = faultOf(step, answers, repeated);
  if (fault !== null) throw new Error(`step ${index}: ${fault}`);
  for (const answer of answers) if (answer.verdict !== null) await assertEvidence(site, running, answer);
}

function bearerOf({ site, keys }: Running, by: string): string | null {
  if (by === 'nobody') return null;
  return by === 'operator' ? site.token : (keys.get(by) ?? 'agk_unknown');
}

function earlier({ answers }: Running, index: number): DoorAnswer {
  const answer = answers[index]?.[0];
  if (answer === undefined) throw new Error(`no call was made in step ${index}`);
  return answer;
}

/** `null` when every answer is as expected. */
function faultOf(step: CallStep, answers: readonly DoorAnswer[], repeated: string | null): string | null {
  const fault = callFault(step, answers);
  if (fault !== null || repeated === null) return fault;
  const isAnother = answers.some(({ decision_id }) => decision_id !== repeated);
  return isAnother ? 'expected the earlier decision again, saw a different decision' : null;
}

async function takeAnswer(running: Running, index: number, step: Extract<VectorStep, { do: 'answer' }>): Promise<void> {
  const { site, tenant } = running;
  const id = earlier(running, step.of).approval_id;
  if (id === null) throw new Error(`step ${index}: step ${step.of} opened no approval`);
  const client = createKernelClient({ baseUrl: site.url, apiKey: site.token });
  const answer = await client.as({ tenant, principal: step.principal }).listApprovals({ query: {} });
  const approval = answer.body.data.find(({ approval_id }) => approval_id === id);
  if (approval === undefined) throw new Error(`step ${index}: the approval ${id} is not listed`);
  const { status } = await client.rawAs({ tenant, principal: step.principal }).transitionApproval({
    params: { approval_id: approval.approval_id, action: step.action },
    headers: { 'if-match': `"${approval.ceremony_hash}"` },
    body: {},
  });
  expectStatus(running, index, { status, wanted: step.expect.status });
}

async function takeRead(running: Running, index: number, step: Extract<VectorStep, { do: 'read' }>): Promise<void> {
  const { url, token, stranger } = running.site;
  const { receipt_id: id } = earlier(running, step.of);
  if (id === null) throw new Error(`step ${index}: step ${step.of} has no receipt`);
  const client = createKernelClient({ baseUrl: url, apiKey: token });
  const speaker = { tenant: stranger, principal: vectorPrincipal };
  const { status } = await client.rawAs(speaker).getReceipt({ params: { receipt_id: id } });
  expectStatus(running, index, { status, wanted: step.expect.status });
}

function expectStatus(running: Running, index: number, { status, wanted }: { status: number; wanted: number }): void {
  running.seen.push({ step: index, status, verdict: null, reason_code: null, receipt_id: null });
  if (status !== wanted) throw new Error(`step ${index}: expected ${wanted}, saw ${status}`);
}
