import { getConsoleFile, showConsole, showConsoleObject, showConsolePage } from '../control-plane/console.ts';
import { beginLogin, finishLogin, refreshSession } from '../control-plane/login.ts';
import { answerDeviceLogin, beginDeviceLogin, createDeviceToken, getDeviceLogin } from '../control-plane/device.ts';
import { finishOidcLogin, listOidcConnections } from '../control-plane/oidc.ts';
import { beginPasskey, finishPasskey } from '../control-plane/passkeys.ts';
import { beginReauth, finishReauth } from '../control-plane/reauth.ts';
import { deleteSession, endCredential, getSession } from '../control-plane/session.ts';
import { listInboxApprovals, resolveApproval } from '../control-plane/approvals.ts';
import { exportAuditEntries, listAuditEntries } from '../control-plane/audit.ts';
import { bootstrapOrg, getBootstrap } from '../control-plane/bootstrap.ts';
import {
  createConsoleMember,
  createConsoleWorkspace,
  deleteConsoleMember,
  getConsoleWorkspace,
  listConsoleWorkspaces,
  putConsoleMember,
  putConsoleWorkspace,
} from '../control-plane/workspaces.ts';
import { listConsoleActions } from '../control-plane/actions.ts';
import { createConsoleTask, listConsoleTasks } from '../control-plane/tasks.ts';
import { listConsoleTools, listToolDrift } from '../control-plane/tools.ts';
import { createConsoleRun, getConsoleRun, listConsoleRuns, listRunReceipts } from '../control-plane/runs.ts';
import {
  getPolicyDraft,
  putPolicyDraft,
  createPolicyTest,
  compilePolicyDraft,
  createWhatIf,
  getWhatIf,
  getActivePolicy,
  activatePolicy,
} from '../control-plane/policy.ts';
import { createSessionTicket, getSnapshot, openConsoleSocket, openTelemetrySocket } from '../control-plane/realtime.ts';
import { deletePolicyShadow, putPolicyShadow } from '../control-plane/policy-shadows.ts';
import {
  createEvidenceHandle,
  getEvidenceHandle,
  listEvidenceHandles,
  revokeEvidenceHandle,
} from '../control-plane/evidence-handles.ts';
import { getPublicApproval, getPublicReceipt, getSigningKey } from '../control-plane/public-proof.ts';
import { createReplay, getPublicReplay, getReplay } from '../control-plane/replays.ts';
import { checkExport } from '../control-plane/verification.ts';
import {
  freezeTarget,
  getOps,
  listOpsTargets,
  quarantineTarget,
  resumeTarget,
  resyncTarget,
  throttleTarget,
} from '../control-plane/ops.ts';
import { createBlastRadius } from '../control-plane/blast-radius.ts';
import { approvePlan, commitPlan, createPlan, getPlan } from '../control-plane/plans.ts';
import { createIncident, getIncident, listIncidents, transitionIncident } from '../control-plane/incidents.ts';
import { createSupportReport } from '../control-plane/support.ts';
import { createAccessKey, listAccessKeys, revokeAccessKey } from '../governance-kernel/access-keys.ts';
import { challengeApproval } from '../governance-kernel/approval-ceremony.ts';
import { listApprovals } from '../governance-kernel/approvals.ts';
import { getRecord, listCheckpoints, listRecords } from '../governance-kernel/boundary.ts';
import { listBudgets } from '../governance-kernel/budgets.ts';
import { createChatCompletion, getModel, listModels } from '../governance-kernel/chat.ts';
import { evaluate } from '../governance-kernel/evaluate.ts';
import {
  getConsistencyProof,
  getInclusionProof,
  getLatestCheckpoint,
  listTrustKeys,
} from '../governance-kernel/log.ts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from '../governance-kernel/mcp.ts';
import { exportReceipts, getReceipt, listReceipts, tailReceipts } from '../governance-kernel/receipts.ts';
import type { Right } from '../rights.ts';
import type { AnyRoute } from '../route.ts';
import type { Role } from './workspaces.ts';

/** A route of another service that the gateway serves, by passing requests and answers on as they come. */
export type Forwarding = {
  family: string;
  to: 'governance-kernel' | 'control-plane';
  /** As the gateway serves it: path, body limit and answers are the other service's. */
  route: AnyRoute;
  /** What counts of an anonymous caller: sign-in, where each try is one at a secret, what costs much work, or anything that anybody may read. */
  limit?: 'auth' | 'public' | 'verify';
  /** It is passed on when the kernel has confirmed the settings of the workspace. */
  needsSettings?: boolean;
  /** How long the other service may be silent, before its answer or within it. */
  silenceMaxMs: number;
  /** How long one answer may go on; who has to hear more asks again, and proves anew who it is. */
  answerMaxMs: number;
};

/** Longer than the kernel gives a model or a tool: it ends what takes too long itself, and says so in a receipt. */
const upstreamWorkMaxMs = 600_000;
const ownWorkMaxMs = 60_000;
/** So long may somebody go on reading whose session, key or membership has ended. */
const streamMaxMs = 300_000;
/** No stream of a model goes on for longer. */
const answerMaxMs = 3_600_000;

type Terms = Omit<Forwarding, 'route' | 'to'> & { routes: AnyRoute[] };

type OfKernel = Terms & {
  opensTo: 'agent' | Role;
  /** Of routes that open to a role. */
  right?: Right;
  sessionOnly?: true;
  needsPresence?: true;
};

const read = { opensTo: 'member', silenceMaxMs: ownWorkMaxMs, answerMaxMs: streamMaxMs } as const;

const ofKernel: OfKernel[] = [
  {
    family: 'chat',
    opensTo: 'agent',
    routes: [createChatCompletion, listModels, getModel],
    silenceMaxMs: upstreamWorkMaxMs,
    answerMaxMs,
  },
  {
    family: 'mcp',
    opensTo: 'agent',
    routes: [describeMcp, callMcp, listMcpCapabilities, executeMcp],
    silenceMaxMs: upstreamWorkMaxMs,
    answerMaxMs,
  },
  {
    family: 'evaluation',
    opensTo: 'agent',
    routes: [evaluate],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs,
  },
  {
    family: 'receipts',
    opensTo: 'member',
    right: 'evidence.read',
    routes: [listReceipts, getReceipt, tailReceipts, exportReceipts],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: streamMaxMs,
  },
  {
    family: 'proofs',
    opensTo: 'member',
    right: 'evidence.read',
    routes: [
      listRecords,
      getRecord,
      listCheckpoints,
      getLatestCheckpoint,
      getInclusionProof,
      getConsistencyProof,
      listTrustKeys,
    ],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: streamMaxMs,
  },
  { ...read, family: 'budgets', right: 'budget.read', routes: [listBudgets] },
  { ...read, family: 'approvals of the kernel', right: 'approval.read', routes: [listApprovals] },
  {
    family: 'votes with a passkey',
    opensTo: 'partner',
    right: 'approval.decide',
    sessionOnly: true,
    routes: [challengeApproval],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'keys of agents',
    opensTo: 'owner',
    right: 'agent_key.manage',
    routes: [listAccessKeys],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'makers of agents',
    opensTo: 'owner',
    right: 'agent_key.manage',
    sessionOnly: true,
    needsPresence: true,
    needsSettings: true,
    routes: [createAccessKey],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'ends of agents',
    opensTo: 'owner',
    right: 'agent_key.manage',
    sessionOnly: true,
    routes: [revokeAccessKey],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
];

const ofControlPlane: Terms[] = [
  {
    family: 'sessions of browsers',
    routes: [
      beginLogin,
      finishLogin,
      finishOidcLogin,
      refreshSession,
      beginReauth,
      finishReauth,
      beginPasskey,
      finishPasskey,
      getSession,
      deleteSession,
      endCredential,
    ],
    limit: 'auth',
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'sign-in of programs',
    routes: [beginDeviceLogin, getDeviceLogin, answerDeviceLogin],
    limit: 'auth',
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'tokens of programs',
    // Several programs behind one address ask every five seconds, by codes that nobody guesses.
    routes: [createDeviceToken],
    limit: 'public',
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'pages',
    routes: [showConsole, showConsolePage, showConsoleObject, getConsoleFile, listOidcConnections],
    limit: 'public',
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'audit log of the control plane',
    routes: [listAuditEntries, exportAuditEntries],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: streamMaxMs,
  },
  {
    family: 'approvals of a workspace',
    routes: [listInboxApprovals, resolveApproval],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'organisations and workspaces',
    routes: [
      bootstrapOrg,
      getBootstrap,
      listConsoleWorkspaces,
      createConsoleWorkspace,
      getConsoleWorkspace,
      putConsoleWorkspace,
      createConsoleMember,
      putConsoleMember,
      deleteConsoleMember,
    ],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'runs of a workspace',
    routes: [createConsoleRun, listConsoleRuns, getConsoleRun, listRunReceipts],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'tasks, actions and tools of a workspace',
    routes: [createConsoleTask, listConsoleTasks, listConsoleActions, listConsoleTools],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'policy of a workspace',
    routes: [
      getPolicyDraft,
      putPolicyDraft,
      createPolicyTest,
      compilePolicyDraft,
      createWhatIf,
      getWhatIf,
      getActivePolicy,
      activatePolicy,
      putPolicyShadow,
      deletePolicyShadow,
    ],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'handles of evidence',
    routes: [createEvidenceHandle, getEvidenceHandle, listEvidenceHandles, revokeEvidenceHandle],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'public proof',
    routes: [getPublicReceipt, getPublicApproval, getPublicReplay, getSigningKey],
    limit: 'public',
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'replays',
    routes: [createReplay, getReplay],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'verification',
    routes: [checkExport],
    limit: 'verify',
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'stops of a workspace',
    routes: [
      getOps,
      listOpsTargets,
      listToolDrift,
      freezeTarget,
      throttleTarget,
      quarantineTarget,
      resumeTarget,
      resyncTarget,
    ],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'plans of stops, and what they would reach',
    routes: [createBlastRadius, createPlan, getPlan, approvePlan, commitPlan],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'incidents',
    routes: [listIncidents, createIncident, getIncident, transitionIncident],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'support reports',
    routes: [createSupportReport],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'what changes in a workspace',
    routes: [createSessionTicket, getSnapshot, openConsoleSocket, openTelemetrySocket],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: streamMaxMs,
  },
];

/**
 * The one table of what the gateway forwards: the doors of agents, what people read and do at the kernel, and what they ask of the control
 * plane.
 */
export const forwarding: readonly Forwarding[] = [
  ...ofKernel.flatMap(({ routes, opensTo: auth, right, sessionOnly, needsPresence, ...terms }) =>
    routes.map((route) => ({
      ...terms,
      to: 'governance-kernel' as const,
      route: {
        ...route,
        auth,
        ...(right && { right }),
        ...(sessionOnly && { sessionOnly }),
        ...(needsPresence && { needsPresence }),
      },
    })),
  ),
  ...ofControlPlane.flatMap(({ routes, ...terms }) =>
    routes.map((route) => ({ ...terms, to: 'control-plane' as const, route: atTheDoor(route) })),
  ),
];

/** A route of the control plane as the gateway opens it: to people, never to their keys. How fresh their sign-in is, is judged there. */
function atTheDoor(route: AnyRoute): AnyRoute {
  // The refresh cookie is judged where it is kept.
  if (route.auth === 'public' || route.provenBy === 'refresh_cookie') return { ...route, auth: 'public' };
  const { needsPresence: _, ...opened } = route;
  return { ...opened, auth: route.leastRole ?? 'session', sessionOnly: true };
}
