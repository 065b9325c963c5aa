import type { Signature } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import type { HealthCheck } from '@countersign/service-kit';
import { expireApproval } from '../controls/approvals/end-approval.ts';
import { settleAbandoned } from '../decision/settle-abandoned.ts';
import { PrincipalId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { KeepDeps } from '../controls/policy/keep-active.ts';
import { demoPolicy, demoTenant } from '../doors/demo/demo-policy.ts';
import { findLastRun } from '../store/conformance-store.ts';
import { listOutdatedApprovals, listOverdueApprovals } from '../store/approval-store.ts';
import { forgetUsage } from '../store/budget-store.ts';
import { forgetChallenges } from '../store/challenge-store.ts';
import { countDecisions } from '../store/decision-count-store.ts';
import { listOverdueDispatches } from '../store/dispatch-store.ts';
import { forgetAnswers } from '../store/idempotency-store.ts';
import { listGivenApprovals } from '../store/server-request-store.ts';
import { startCheckpointer } from './checkpointer.ts';
import { startConformanceSchedule } from './conformance-schedule.ts';
import { startDecisionCounter } from './decision-counter.ts';
import { startDemoPolicy } from './demo-policy.ts';
import { startFenceListener } from './fence-listener.ts';
import { startHousekeeper } from './housekeeper.ts';
import { startMembersListener } from './members-listener.ts';
import { watchPolicyFile } from './policy-file.ts';
import { startReconciler } from './reconciler.ts';
import { startServerApprover } from './server-approver.ts';
import { startWitnessing } from './witnessing.ts';

/** Often enough that the reservation of a crashed call is released soon, and rarely enough to cost little. */
const reconcileEveryMs = 5_000;

/** Expiry is enforced at once. This is the longest delay before waiting callers are notified. */
const housekeepEveryMs = 10_000;

export type Workers = Awaited<ReturnType<typeof startWorkers>>;

/**
 * Starts all periodic work. Resolves when the policy of the operator's file is active, and the policy of the demo is
 * active or was refused.
 */
export async function startWorkers(context: Context) {
  const { reader, clock, clockGuard, log, cycle, dispatch, keptAnswers } = context;
  // Started first, because they can fail, and no periodic work may outlive a failed start.
  const policyFile = await startPolicyFile(context);
  const demo = await startDemo(context).catch(async (error: unknown) => {
    await policyFile?.close();
    throw error;
  });
  const listeners = [startFenceListener(context), startMembersListener(context)];
  const subscribed = Promise.all(listeners.map((listener) => listener.subscribed)).then(() => undefined);
  const checkpointer = startCheckpointer(context);
  const reconciler = startReconciler({
    sealKept: () => dispatch.sealKept(),
    storeHeld: () => keptAnswers.storeHeld(log),
    live: () => dispatch.live(),
    listOverdue: (query) => listOverdueDispatches(reader, query),
    settleAbandoned: (abandoned) => settleAbandoned(cycle, abandoned),
    clock,
    clockGuard,
    log,
    intervalMs: reconcileEveryMs,
  });
  const housekeeper = startHousekeeper({
    listOverdueApprovals: (now, limit) => listOverdueApprovals(reader, now, limit),
    listOutdatedApprovals: (now, limit) => listOutdatedApprovals(reader, now, limit),
    expireApproval: (key) => expireApproval(context, key),
    forgetRows: () => forgetRows(context),
    recordKeyUses: () => context.presentedKeys.recordUses(),
    clock,
    clockGuard,
    log,
    intervalMs: housekeepEveryMs,
  });
  const conformance = startConformance(context);
  const counter = startDecisionCounter({ count: () => countDecisions(context.transaction), clockGuard, log });
  const approver = startServerApprover({
    ...{ desk: context.registryDesk, clock, clockGuard, log },
    listGiven: (query) => listGivenApprovals(reader, query),
  });
  const witnessing = context.config.witnesses.map((witness) => startWitnessing(context, witness));
  const repeated = [housekeeper, reconciler, checkpointer, conformance, counter, approver, ...witnessing];
  const stop = async () => {
    await demo?.close();
    await policyFile?.close();
    await Promise.all(repeated.map((each) => each.close()));
  };
  const check: HealthCheck = (signal) => Promise.all(repeated.map((each) => each.check(signal)));
  return { housekeeper, reconciler, subscribed, conformance, check, stop };
}

/** Removes each kind of expired rows in a separate transaction, so that no locks are kept for the next kind. */
async function forgetRows({ transaction, databaseNow }: Context): Promise<void> {
  for (const forget of [forgetAnswers, forgetUsage, forgetChallenges])
    await transaction(async (tx) => forget(tx, await databaseNow(tx)));
}

function startConformance({ conformance, config, reader, clock, clockGuard, log }: Context) {
  const by = PrincipalId.parse('kernel');
  return startConformanceSchedule({
    run: () => conformance.run({ scope: 'short', by }),
    lastRunAt: async () => {
      const last = await findLastRun(reader);
      return last === null ? null : new Date(last.ended_at);
    },
    clock,
    clockGuard,
    log,
    intervalMs: config.conformanceIntervalMs,
  });
}

async function startDemo(context: Context): Promise<{ close(): Promise<void> } | null> {
  if (!context.config.hasDemo) return null;
  const { clockGuard, log } = context;
  return await startDemoPolicy({ ...keepParts(context), tenant: demoTenant, bundle: demoPolicy, clockGuard, log });
}

async function startPolicyFile(context: Context): Promise<{ close(): Promise<void> } | null> {
  const { policyFile: path, policyFileIntervalMs: intervalMs } = context.config;
  if (path === null) return null;
  return await watchPolicyFile({
    ...keepParts(context),
    path,
    intervalMs,
    clockGuard: context.clockGuard,
    log: context.log,
  });
}

/** Three confirmations in a row may fail before a policy is stale. */
function keepParts({ config, policies, signers, clock }: Context): KeepDeps {
  const confirmEveryMs = Math.max(1_000, config.policyAgeMaxMs / 4);
  return { policies, clock, sign: signatureBy(signers.policies), confirmEveryMs };
}

function signatureBy({ keyId, sign }: Context['signers']['policies']): (bytes: Uint8Array) => Signature {
  return (bytes) => ({ alg: 'Ed25519', key_id: keyId, value: encodeBase64Url(sign(bytes)) });
}
