import { createChatCompletion, listModels } from '../governance-kernel/chat.ts';
import { evaluate } from '../governance-kernel/evaluate.ts';
import { callMcp, describeMcp, executeMcp, listMcpCapabilities } from '../governance-kernel/mcp.ts';
import type { AnyRoute } from '../route.ts';

/** A route of another service that the gateway serves, by passing requests and answers on as they come. */
export type Forwarding = {
  family: string;
  to: 'governance-kernel';
  /** As the gateway serves it: path, body limit and answers are the other service's. */
  route: AnyRoute;
  /** How long the other service may be silent, before its answer or within it. */
  silenceMaxMs: number;
};

/** Longer than the kernel gives a model or a tool: it ends what takes too long itself, and says so in a receipt. */
const upstreamWorkMaxMs = 600_000;
const ownWorkMaxMs = 60_000;

type Family = Omit<Forwarding, 'route'> & { routes: AnyRoute[] };

const families: Family[] = [
  {
    family: 'chat',
    to: 'governance-kernel',
    routes: [createChatCompletion, listModels],
    silenceMaxMs: upstreamWorkMaxMs,
  },
  {
    family: 'mcp',
    to: 'governance-kernel',
    routes: [describeMcp, callMcp, listMcpCapabilities, executeMcp],
    silenceMaxMs: upstreamWorkMaxMs,
  },
  { family: 'evaluation', to: 'governance-kernel', routes: [evaluate], silenceMaxMs: ownWorkMaxMs },
];

/** The one table of what the gateway forwards: the doors of agents. */
export const forwarding: readonly Forwarding[] = families.flatMap(({ routes, ...terms }) =>
  routes.map((route) => ({ ...terms, route: { ...route, auth: 'agent' as const } })),
);
