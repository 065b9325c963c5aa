import { AppError } from '@countersign/contracts';
import { forwarding, type Forwarding } from '@countersign/contracts/gateway';
import { handlePublic, jsonRpcError, takenOver, type Endpoint } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { forwardCall } from '../forwarding/forward-call.ts';
import { forwardToControlPlane } from '../forwarding/forward-to-control-plane.ts';
import { createForward, type Forward } from '../forwarding/forwarder.ts';
import { handleAgent, handleConsole, handleWorkspace } from '../handle.ts';

/** Every route of the table of what is forwarded. */
export function forwardRoutes(context: Context): Endpoint[] {
  return forwarding.map((row) => {
    switch (row.to) {
      case 'governance-kernel':
        return kernelRoute(context, row);
      case 'control-plane':
        return controlPlaneRoute(context, row);
      default:
        return row.to satisfies never;
    }
  });
}

function kernelRoute(context: Context, { route, ...terms }: Forwarding): Endpoint {
  const { governance } = context.config;
  const unavailable = (cause: unknown) =>
    new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer', { cause });
  const forward =
    governance === null
      ? null
      : createForward({ ...terms, url: governance.url, agent: context.kernelPool, setsCookies: false, unavailable });
  const pass = async (input: Parameters<typeof forwardCall>[1]) => {
    if (forward === null) throw new AppError('GOVERNANCE_UNAVAILABLE', 'No kernel is configured');
    await forwardCall(context, input, { forward, route });
    return takenOver;
  };
  const errors = route.media === 'mcp' ? { renderError: jsonRpcError } : {};
  const options = { passesThrough: true, idempotency: 'handler', ...errors } as const;
  return route.auth === 'agent' ? handleAgent(route, options)(pass) : handleWorkspace(route, options)(pass);
}

function controlPlaneRoute(context: Context, { route, ...terms }: Forwarding): Endpoint {
  const forward = controlPlaneForward(context, terms);
  const pass = async (input: Parameters<typeof forwardToControlPlane>[1]) => {
    if (forward === null) throw new AppError('CONTROL_PLANE_UNAVAILABLE', 'No control plane is configured');
    await forwardToControlPlane(context, input, { forward, route });
    return takenOver;
  };
  const options = { passesThrough: true, idempotency: 'handler' } as const;
  return route.auth === 'public'
    ? handlePublic(route, { ...options, rateLimit: 'auth' })(pass)
    : handleConsole(route, options)(pass);
}

function controlPlaneForward({ config, controlPlanePool }: Context, terms: Omit<Forwarding, 'route'>): Forward | null {
  const { controlPlane } = config;
  if (controlPlane === null) return null;
  const unavailable = (cause: unknown) =>
    new AppError('CONTROL_PLANE_UNAVAILABLE', 'The control plane does not answer', { cause });
  return createForward({ ...terms, url: controlPlane.url, agent: controlPlanePool, setsCookies: true, unavailable });
}
