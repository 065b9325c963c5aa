import { getOpenApi, showFrontPage } from '../front-page.ts';
import { createAccessKey, listAccessKeys, revokeAccessKey } from './access-keys.ts';
import { voteOnPage, showApprovalPage, signInApprover, signOutApprover } from './approval-pages.ts';
import { approveByKernel, createApproval, listApprovals, transitionApproval } from './approvals.ts';
import {
  createCheckpoint,
  getRecord,
  listCheckpoints,
  listRecords,
  verifyCheckpoint,
  verifyRecord,
} from './boundary.ts';
import { listBudgets, putBudget, putCeiling } from './budgets.ts';
import { createChatCompletion, listModels } from './chat.ts';
import { runDemo, tamperDemo, verifyDemo } from './demo.ts';
import { evaluate } from './evaluate.ts';
import { getFence, listFences, putFence } from './fences.ts';
import { healthz, version } from './health.ts';
import { getConsistencyProof, getInclusionProof, getLatestCheckpoint, listTrustKeys } from './log.ts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from './mcp.ts';
import { putPolicyBundle } from './policy.ts';
import { exportReceipts, getReceipt, listReceipts, tailReceipts } from './receipts.ts';
import { putToolBlocks } from './tool-blocks.ts';

/** Every route of the kernel, by the name under which the typed client offers it. */
export const kernelRoutes = {
  showFrontPage,
  getOpenApi,
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
  listCheckpoints,
  createCheckpoint,
  verifyCheckpoint,
  getLatestCheckpoint,
  getInclusionProof,
  getConsistencyProof,
  listTrustKeys,
  listApprovals,
  createApproval,
  transitionApproval,
  approveByKernel,
  showApprovalPage,
  signInApprover,
  signOutApprover,
  voteOnPage,
  listAccessKeys,
  createAccessKey,
  revokeAccessKey,
  listBudgets,
  putBudget,
  putCeiling,
  putPolicyBundle,
  putToolBlocks,
  putFence,
  getFence,
  listFences,
  createChatCompletion,
  listModels,
  describeMcp,
  callMcp,
  listMcpCapabilities,
  executeMcp,
};
