import { beginLogin, finishLogin, refreshSession } from '../control-plane/login.ts';
import { deleteSession, getSession } from '../control-plane/session.ts';
import { listApprovals } from '../governance-kernel/approvals.ts';
import { getRecord, listCheckpoints, listRecords } from '../governance-kernel/boundary.ts';
import { listBudgets } from '../governance-kernel/budgets.ts';
import { createChatCompletion, listModels } from '../governance-kernel/chat.ts';
import { evaluate } from '../governance-kernel/evaluate.ts';
import { getConsistencyProof, getInclusionProof, getLatestCheckpoint } from '../governance-kernel/log.ts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from '../governance-kernel/mcp.ts';
import { exportReceipts, getReceipt, listReceipts, tailReceipts } from '../governance-kernel/receipts.ts';
import type { AnyRoute } from '../route.ts';
import type { Role } from './workspaces.ts';

/** A route of another service that the gateway serves, by passing requests and answers on as they come. */
export type Forwarding = {
  family: string;
  to: 'governance-kernel' | 'control-plane';
  /** As the gateway serves it: path, body limit and answers are the other service's. */
  route: AnyRoute;
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

type Family = Omit<Forwarding, 'route'> & {
  /** `session`: to a person at a browser. */
  opensTo: 'agent' | Role | 'public' | 'session';
  routes: AnyRoute[];
};

const families: Family[] = [
  {
    family: 'chat',
    to: 'governance-kernel',
    opensTo: 'agent',
    routes: [createChatCompletion, listModels],
    silenceMaxMs: upstreamWorkMaxMs,
    answerMaxMs,
  },
  {
    family: 'mcp',
    to: 'governance-kernel',
    opensTo: 'agent',
    routes: [describeMcp, callMcp, listMcpCapabilities, executeMcp],
    silenceMaxMs: upstreamWorkMaxMs,
    answerMaxMs,
  },
  {
    family: 'evaluation',
    to: 'governance-kernel',
    opensTo: 'agent',
    routes: [evaluate],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs,
  },
  {
    family: 'receipts',
    to: 'governance-kernel',
    opensTo: 'member',
    routes: [listReceipts, getReceipt, tailReceipts, exportReceipts],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: streamMaxMs,
  },
  {
    family: 'proofs and controls',
    to: 'governance-kernel',
    opensTo: 'member',
    routes: [
      listRecords,
      getRecord,
      listCheckpoints,
      getLatestCheckpoint,
      getInclusionProof,
      getConsistencyProof,
      listBudgets,
      listApprovals,
    ],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: streamMaxMs,
  },
  {
    family: 'sign-in of browsers',
    to: 'control-plane',
    opensTo: 'public',
    // The refresh cookie is judged where it is kept.
    routes: [beginLogin, finishLogin, refreshSession],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
  {
    family: 'sessions of browsers',
    to: 'control-plane',
    opensTo: 'session',
    routes: [getSession, deleteSession],
    silenceMaxMs: ownWorkMaxMs,
    answerMaxMs: ownWorkMaxMs,
  },
];

/**
 * The one table of what the gateway forwards: the doors of agents, what members read of their workspace at the kernel, and what browsers
 * ask of the control plane.
 */
export const forwarding: readonly Forwarding[] = families.flatMap(({ routes, opensTo, ...terms }) =>
  routes.map((route) => ({ ...terms, route: { ...route, auth: opensTo } })),
);
