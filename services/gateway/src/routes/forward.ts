import { AppError } from '@countersign/contracts';
import { forwarding } from '@countersign/contracts/gateway';
import { jsonRpcError, takenOver, type Endpoint } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { forwardCall } from '../forwarding/forward-call.ts';
import { createForward } from '../forwarding/forwarder.ts';
import { handleAgent, handleWorkspace } from '../handle.ts';

/** Every route of the table of what is forwarded. */
export function forwardRoutes(context: Context): Endpoint[] {
  const { governance } = context.config;
  return forwarding.map(({ route, ...terms }) => {
    const forward =
      governance === null ? null : createForward({ url: governance.url, agent: context.kernelPool, ...terms });
    const pass = async (input: Parameters<typeof forwardCall>[1]) => {
      if (forward === null) throw new AppError('GOVERNANCE_UNAVAILABLE', 'No kernel is configured');
      await forwardCall(context, input, { forward, route });
      return takenOver;
    };
    const errors = route.media === 'mcp' ? { renderError: jsonRpcError } : {};
    const options = { passesThrough: true, idempotency: 'handler', ...errors } as const;
    return route.auth === 'agent' ? handleAgent(route, options)(pass) : handleWorkspace(route, options)(pass);
  });
}
