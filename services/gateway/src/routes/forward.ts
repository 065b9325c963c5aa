import { AppError } from '@countersign/contracts';
import { scimError } from '@countersign/contracts/commercial-gateway';
import { forwarding, type Forwarding } from '@countersign/contracts/routes';
import {
  handlePublic,
  jsonRpcError,
  oauthError,
  takenOver,
  upgradeOf,
  type Endpoint,
  type PersonAudience,
} from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { forwardCall } from '../forwarding/forward-call.ts';
import { forwardAsPerson, forwardSocketAsPerson } from '../forwarding/forward-as-person.ts';
import { createForward, type Forward } from '../forwarding/forwarder.ts';
import { createForwardSocket } from '../forwarding/forward-socket.ts';
import { requireOwnPage } from '../console/own-page.ts';
import { handleAgent, handleCommercial, handleConsole, handlePerson, handleWorkspace } from '../handle.ts';

/** One endpoint for each forwarded route. */
export function forwardRoutes(context: Context): Endpoint[] {
  const toKernel = shared((times) => kernelForward(context, times));
  const toControlPlane = shared((times) => personForward(context, 'control-plane', times));
  const toCommercial = shared((times) => personForward(context, 'commercial-gateway', times));
  return forwarding.map((row) => {
    switch (row.to) {
      case 'governance-kernel':
        return kernelRoute(context, row, toKernel(row));
      case 'control-plane':
        return personRoute(context, row, { to: row.to, forward: toControlPlane(row) });
      case 'commercial-gateway':
        return personRoute(context, row, { to: row.to, forward: toCommercial(row) });
      default:
        return row.to satisfies never;
    }
  });
}

type Times = Pick<Forwarding, 'silenceMaxMs' | 'answerMaxMs'>;

/** Routes with the same time limit share a forwarder, since the library adds a listener to the server for each. */
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
  const kernelUnavailable = (cause: unknown) =>
    new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer', { cause });
  return createForward({ ...times, url: governance.url, agent, setsCookies: false, unavailable: kernelUnavailable });
}

function kernelRoute(context: Context, row: Forwarding, forward: Forward | null): Endpoint {
  const { route } = row;
  const pass = async (input: Parameters<typeof forwardCall>[1]) => {
    if (forward === null)
      throw new AppError('GOVERNANCE_UNAVAILABLE', 'This gateway has no kernel. Ask its operator to configure one');
    await forwardCall(context, input, { forward, row });
    return takenOver;
  };
  const errors = route.media === 'mcp' ? { renderError: jsonRpcError } : {};
  const options = { passesThrough: true, idempotency: 'handler', ...errors } as const;
  return route.auth === 'agent' ? handleAgent(route, options)(pass) : handleWorkspace(route, options)(pass);
}

function personRoute(context: Context, row: Forwarding, { to, forward }: PersonService): Endpoint {
  const { route, limit } = row;
  if (route.media === 'socket') return socketRoute(context, row);
  const pass = async (input: Parameters<typeof forwardAsPerson>[1]) => {
    if (forward === null) throw unavailable[to]();
    await forwardAsPerson(context, input, { forward, row, to });
    return takenOver;
  };
  const options = { passesThrough: true, idempotency: 'handler' } as const;
  const errors = errorsOf(route.media);
  if (route.auth === 'public') return handlePublic(route, { ...options, ...errors, rateLimit: limit })(pass);
  if (route.provenBy === 'browser_session') return handleConsole(route, options)(pass);
  if (route.auth === 'commercial') return handleCommercial(route, options)(pass);
  return route.auth === 'session' ? handlePerson(route, options)(pass) : handleWorkspace(route, options)(pass);
}

/** Errors of the gateway itself, in the form of the protocol of the route. */
function errorsOf(media: Forwarding['route']['media']) {
  if (media === 'oauth') return { renderError: oauthError };
  return media === 'scim' ? { renderError: scimError } : {};
}

function socketRoute(context: Context, { route, answerMaxMs }: Forwarding): Endpoint {
  const { config, controlPlanePool: agent } = context;
  const { controlPlane } = config;
  const forward =
    controlPlane === null
      ? null
      : createForwardSocket({ url: controlPlane.url, agent, answerMaxMs, unavailable: unavailable['control-plane'] });
  return handleConsole(route, { passesThrough: true })(async (input) => {
    if (forward === null) throw unavailable['control-plane']();
    upgradeOf(input.req);
    requireOwnPage(input.req, config);
    await forwardSocketAsPerson(context, input, forward);
    return takenOver;
  });
}

type PersonService = {
  to: PersonAudience;
  /** `null` when the service is not configured. */
  forward: Forward | null;
};

const unavailable: Readonly<Record<PersonAudience, (cause?: unknown) => AppError>> = {
  'control-plane': (cause) =>
    new AppError('CONTROL_PLANE_UNAVAILABLE', 'The control plane is not configured or does not answer', { cause }),
  'commercial-gateway': (cause) =>
    new AppError('COMMERCIAL_UNAVAILABLE', 'The commercial gateway is not configured or does not answer', { cause }),
};

/** The control plane manages browser sessions, so only its cookies reach the browser. */
function personForward(context: Context, to: PersonAudience, times: Times): Forward | null {
  const { config, controlPlanePool, commercialPool } = context;
  const service = to === 'control-plane' ? config.controlPlane : config.commercial;
  if (service === null) return null;
  const agent = to === 'control-plane' ? controlPlanePool : commercialPool;
  const setsCookies = to === 'control-plane';
  return createForward({ ...times, url: service.url, agent, setsCookies, unavailable: unavailable[to] });
}
