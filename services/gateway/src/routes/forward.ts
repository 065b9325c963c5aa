import { AppError } from '@countersign/contracts';
import { forwarding, type Forwarding } from '@countersign/contracts/routes';
import { handlePublic, jsonRpcError, oauthError, takenOver, upgradeOf, type Endpoint } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { forwardCall } from '../forwarding/forward-call.ts';
import { forwardSocketToControlPlane, forwardToControlPlane } from '../forwarding/forward-to-control-plane.ts';
import { createForward, type Forward } from '../forwarding/forwarder.ts';
import { createForwardSocket } from '../forwarding/forward-socket.ts';
import { requireOwnPage } from '../console/own-page.ts';
import { handleAgent, handleConsole, handlePerson, handleWorkspace } from '../handle.ts';

/** Every route of the table of what is forwarded. */
export function forwardRoutes(context: Context): Endpoint[] {
  const toKernel = shared((times) => kernelForward(context, times));
  const toControlPlane = shared((times) => controlPlaneForward(context, times));
  return forwarding.map((row) => {
    switch (row.to) {
      case 'governance-kernel':
        return kernelRoute(context, row, toKernel(row));
      case 'control-plane':
        return controlPlaneRoute(context, row, toControlPlane);
      default:
        return row.to satisfies never;
    }
  });
}

type Times = Pick<Forwarding, 'silenceMaxMs' | 'answerMaxMs'>;

/** One for all routes that wait as long: the library listens for the end of the server once for each. */
function shared(make: (times: Times) => Forward | null): (times: Times) => Forward | null {
  const made = new Map<string, Forward | null>();
  return ({ silenceMaxMs, answerMaxMs }) => {
    const key = `${silenceMaxMs} ${answerMaxMs}`;
    const forward = made.get(key) ?? make({ silenceMaxMs, answerMaxMs });
    made.set(key, forward);
    return forward;
  };
}

function kernelForward({ config, kernelPool: agent }: Context, times: Times): Forward | null {
  const { governance } = config;
  if (governance === null) return null;
  const unavailable = (cause: unknown) =>
    new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer', { cause });
  return createForward({ ...times, url: governance.url, agent, setsCookies: false, unavailable });
}

function kernelRoute(context: Context, row: Forwarding, forward: Forward | null): Endpoint {
  const { route } = row;
  const pass = async (input: Parameters<typeof forwardCall>[1]) => {
    if (forward === null) throw new AppError('GOVERNANCE_UNAVAILABLE', 'No kernel is configured');
    await forwardCall(context, input, { forward, row });
    return takenOver;
  };
  const errors = route.media === 'mcp' ? { renderError: jsonRpcError } : {};
  const options = { passesThrough: true, idempotency: 'handler', ...errors } as const;
  return route.auth === 'agent' ? handleAgent(route, options)(pass) : handleWorkspace(route, options)(pass);
}

function controlPlaneRoute(context: Context, row: Forwarding, forwardFor: ReturnType<typeof shared>): Endpoint {
  const { route, limit = 'public' } = row;
  if (route.media === 'socket') return socketRoute(context, row);
  const forward = forwardFor(row);
  const pass = async (input: Parameters<typeof forwardToControlPlane>[1]) => {
    if (forward === null) throw new AppError('CONTROL_PLANE_UNAVAILABLE', 'No control plane is configured');
    await forwardToControlPlane(context, input, { forward, route });
    return takenOver;
  };
  const options = { passesThrough: true, idempotency: 'handler' } as const;
  const errors = route.media === 'oauth' ? { renderError: oauthError } : {};
  if (route.auth === 'public') return handlePublic(route, { ...options, ...errors, rateLimit: limit })(pass);
  if (route.provenBy === 'browser_session') return handleConsole(route, options)(pass);
  return route.auth === 'session' ? handlePerson(route, options)(pass) : handleWorkspace(route, options)(pass);
}

function socketRoute(context: Context, { route, answerMaxMs }: Forwarding): Endpoint {
  const { config, controlPlanePool: agent } = context;
  const { controlPlane } = config;
  const forward =
    controlPlane === null
      ? null
      : createForwardSocket({ url: controlPlane.url, agent, answerMaxMs, unavailable: controlPlaneAway });
  return handleConsole(route, { passesThrough: true })(async (input) => {
    if (forward === null) throw new AppError('CONTROL_PLANE_UNAVAILABLE', 'No control plane is configured');
    upgradeOf(input.req);
    requireOwnPage(input.req, config);
    await forwardSocketToControlPlane(context, input, forward);
    return takenOver;
  });
}

const controlPlaneAway = (cause: unknown) =>
  new AppError('CONTROL_PLANE_UNAVAILABLE', 'The control plane does not answer', { cause });

function controlPlaneForward({ config, controlPlanePool: agent }: Context, times: Times): Forward | null {
  const { controlPlane } = config;
  if (controlPlane === null) return null;
  return createForward({ ...times, url: controlPlane.url, agent, setsCookies: true, unavailable: controlPlaneAway });
}
