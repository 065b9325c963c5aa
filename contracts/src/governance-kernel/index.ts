export { showFrontPage, getOpenApi } from '../front-page.ts';
export { ReceiptKind, Outcome, ReceiptPayload, Signature, SignedReceipt, StoredReceipt } from './receipt.ts';
export {
  GateOutcome,
  CappedFacts,
  RecordedIntent,
  Demand,
  BudgetRemainder,
  RecordedFence,
  BoundaryRecord,
  recordedFactBytesMax,
} from './boundary-record.ts';
export { RuleId, PolicyRule, PolicyTest, PolicyBundle } from './policy-bundle.ts';
export { PolicyActivation, PolicyStatementFacts, ActivePolicy, PolicyTenant, putPolicyBundle } from './policy.ts';
export { DeclaredDemand, EvaluateRequest, ApprovalHandle, BudgetUse, DecisionReply, evaluate } from './evaluate.ts';
export { healthz, version } from './health.ts';
export { listReceipts, getReceipt, tailReceipts, exportReceipts } from './receipts.ts';
export {
  listRecords,
  getRecord,
  verifyRecord,
  Checkpoint,
  listCheckpoints,
  createCheckpoint,
  verifyCheckpoint,
} from './boundary.ts';
export {
  getLatestCheckpoint,
  InclusionProof,
  getInclusionProof,
  getConsistencyProof,
  KeyPurpose,
  TrustKey,
  listTrustKeys,
} from './log.ts';
export {
  ApprovalReason,
  ApprovalState,
  Approval,
  listApprovals,
  createApproval,
  transitionApproval,
  ApprovalStatement,
  approveByKernel,
} from './approvals.ts';
export { showApprovalPage, signInApprover, signOutApprover, voteOnPage } from './approval-pages.ts';
export {
  AccessKeyKind,
  NewAccessKey,
  AccessKey,
  createAccessKey,
  listAccessKeys,
  revokeAccessKey,
} from './access-keys.ts';
export {
  installationCeiling,
  BudgetSubject,
  BudgetWindow,
  BudgetAmounts,
  Budget,
  listBudgets,
  putBudget,
  putCeiling,
} from './budgets.ts';
export {
  FenceScope,
  FenceKind,
  Fence,
  CallInFlight,
  callsInFlightMax,
  putFence,
  getFence,
  listFences,
} from './fences.ts';
export { BlockedTools, ToolBlocks, putToolBlocks } from './tool-blocks.ts';
export { callsPerAnswerMax, ChatCompletionRequest, createChatCompletion, listModels } from './chat.ts';
export { describeMcp, callMcp, McpTool, listMcpCapabilities, McpExecution, executeMcp } from './mcp.ts';
export { DemoAction, runDemo, verifyDemo, tamperDemo } from './demo.ts';
export {
  ExportedProof,
  ExportedReceipt,
  ExportedHead,
  ExportHeader,
  ExportLine,
  HeadStatement,
} from './chain-export.ts';
export { kernelApprovalResolved, kernelFenceSet } from './events.ts';
export { kernelRoutes } from './routes.ts';
export { createKernelClient, type KernelClient, type KernelClientOptions, type Speaker } from './client.ts';
