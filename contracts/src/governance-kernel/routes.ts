import { getOpenApi, showFrontPage } from '../front-page.ts';
import { createAccessKey, listAccessKeys, revokeAccessKey } from './access-keys.ts';
import { voteOnPage, showApprovalPage, signInApprover, signOutApprover } from './approval-pages.ts';
import { approveByKernel, createApproval, listApprovals, transitionApproval, withdrawApproval } from './approvals.ts';
import { confirmActivation, createActivationSignature } from './activation-signatures.ts';
import { assertApproval, challengeApproval } from './approval-ceremony.ts';
import {
  createCheckpoint,
  getRecord,
  listCheckpoints,
  listRecords,
  verifyCheckpoint,
  verifyRecord,
} from './boundary.ts';
import { getBudget, listBudgets, putBudget, putCeiling, recordBudgetUsage } from './budgets.ts';
import {
  evaluateAccess,
  evaluateAccesses,
  getAuthzenConfiguration,
  searchActions,
  searchResources,
  searchSubjects,
} from './authzen.ts';
import { createChatCompletion, getModel, listModels } from './chat.ts';
import {
  getConformanceReport,
  listConformanceReports,
  listConformanceVectors,
  listNegativeVectors,
  runConformance,
} from './conformance.ts';
import { runDemo, tamperDemo, verifyDemo } from './demo.ts';
import { evaluate } from './evaluate.ts';
import { getFence, listFences, putFence } from './fences.ts';
import { getLiveness, getReadiness } from '../health-probes.ts';
import { healthz, version } from './health.ts';
import {
  createKeyChallenge,
  enrolIdentityKey,
  listAgents,
  listOperators,
  putIdentity,
  revokeIdentity,
  revokeIdentityKey,
} from './identity.ts';
import { getConsistencyProof, getInclusionProof, getLatestCheckpoint, listTrustKeys } from './log.ts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from './mcp.ts';
import { listActions } from './actions.ts';
import { listDriftedTools, listRegisteredTools } from './registered-tools.ts';
import { getPolicyCeilings, putPolicyCeilings } from './policy-ceilings.ts';
import { getPolicyBundle, getPolicyInForce } from './policy-in-force.ts';
import {
  assertOnPage,
  challengeOnPage,
  challengeVoucherOnPage,
  registerOnPage,
  showPasskeyScript,
  showWaitingPasskeys,
  verifyOnPage,
  vouchOnPage,
} from './passkey-pages.ts';
import { assertSignIn, challengeSignIn, revokeOwnPasskey } from './passkey-sign-in.ts';
import {
  acceptPasskey,
  challengeVoucher,
  listPasskeys,
  putApprovalTerms,
  registerPasskey,
  revokePasskey,
  verifyPasskey,
  vouchForPasskey,
} from './passkeys.ts';
import { putPolicyBundle } from './policy.ts';
import { exportReceipts, getReceipt, listReceipts, tailReceipts } from './receipts.ts';
import { putTenant } from './tenants.ts';
import { listLedgerEntries } from './ledger-entries.ts';
import { deleteShadowLane, putShadowLane } from './shadow-lanes.ts';
import {
  getBoundaryStatus,
  getConsoleBootstrap,
  getConsoleSurface,
  listBoundaryCapabilities,
  listConsoleSurfaces,
} from './standing.ts';
import { exportTelemetry, getCoexistenceCapabilities, getOtelConfig } from './telemetry.ts';
import {
  checkRelation,
  getAuthzHealth,
  getRelationSnapshot,
  listRelationSnapshots,
  putPermissionModel,
  writeRelationships,
  listSubjectRelations,
} from './relations.ts';
import { putMembers } from './members.ts';
import { putToolBlocks } from './tool-blocks.ts';

import { listBoundaryTargets } from './boundary-targets.ts';

/** Every route of the kernel, by the name under which the typed client offers it. */
export const kernelRoutes = {
  showFrontPage,
  getOpenApi,
  getLiveness,
  getReadiness,
  healthz,
  version,
  runDemo,
  verifyDemo,
  tamperDemo,
  evaluate,
  listReceipts,
  getReceipt,
  tailReceipts,
  exportReceipts,
  listRecords,
  getRecord,
  verifyRecord,
  getBoundaryStatus,
  listBoundaryTargets,
  listBoundaryCapabilities,
  getConsoleBootstrap,
  listConsoleSurfaces,
  getConsoleSurface,
  getOtelConfig,
  exportTelemetry,
  getCoexistenceCapabilities,
  listCheckpoints,
  createCheckpoint,
  verifyCheckpoint,
  getLatestCheckpoint,
  getInclusionProof,
  getConsistencyProof,
  listTrustKeys,
  listApprovals,
  createApproval,
  withdrawApproval,
  transitionApproval,
  approveByKernel,
  challengeApproval,
  assertApproval,
  putApprovalTerms,
  registerPasskey,
  verifyPasskey,
  listPasskeys,
  revokePasskey,
  challengeVoucher,
  vouchForPasskey,
  acceptPasskey,
  challengeSignIn,
  assertSignIn,
  revokeOwnPasskey,
  showApprovalPage,
  signInApprover,
  signOutApprover,
  voteOnPage,
  showPasskeyScript,
  challengeOnPage,
  assertOnPage,
  registerOnPage,
  verifyOnPage,
  showWaitingPasskeys,
  challengeVoucherOnPage,
  vouchOnPage,
  listAccessKeys,
  createAccessKey,
  revokeAccessKey,
  listAgents,
  listOperators,
  putIdentity,
  createKeyChallenge,
  enrolIdentityKey,
  revokeIdentityKey,
  revokeIdentity,
  listBudgets,
  putBudget,
  putCeiling,
  getBudget,
  recordBudgetUsage,
  putPolicyBundle,
  putPolicyCeilings,
  getPolicyCeilings,
  getPolicyInForce,
  getPolicyBundle,
  listLedgerEntries,
  putShadowLane,
  deleteShadowLane,
  createActivationSignature,
  confirmActivation,
  putMembers,
  putToolBlocks,
  putFence,
  getFence,
  listFences,
  putTenant,
  writeRelationships,
  listSubjectRelations,
  putPermissionModel,
  checkRelation,
  getAuthzHealth,
  listRelationSnapshots,
  getRelationSnapshot,
  evaluateAccess,
  evaluateAccesses,
  searchSubjects,
  searchResources,
  searchActions,
  getAuthzenConfiguration,
  createChatCompletion,
  listModels,
  getModel,
  describeMcp,
  callMcp,
  listMcpCapabilities,
  executeMcp,
  listRegisteredTools,
  listDriftedTools,
  listActions,
  runConformance,
  listConformanceReports,
  getConformanceReport,
  listConformanceVectors,
  listNegativeVectors,
};
