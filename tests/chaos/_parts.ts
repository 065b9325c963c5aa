import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@countersign/local';
import { serviceDirs, type ServiceDirs } from '../e2e/_environments.ts';
import { Component } from './_part.ts';
import { policy } from './_policy.ts';

/** A part with its address, which survives a restart. */
export type Wired = { component: Component; url: string };

type Wiring = { scratch: string; env: Record<string, string>; name?: string; dirs?: ServiceDirs };
type GatewayWiring = Wiring & { name: string; workers: string };

/**
 * The timeouts are short, so that a lost outcome is reported soon. They suffice, since a held call waits only for one
 * kill.
 */
const upstreamTimeout = { GOV_UPSTREAM_TIMEOUT: '4s', GOV_MCP_TIMEOUT: '4s', GOV_DISPATCH_DEADLINE: '39s' };

export async function kernelPart({ scratch, env, name = 'kernel', dirs = serviceDirs }: Wiring): Promise<Wired> {
  const policyFile = join(scratch, 'policy.yaml');
  writeFileSync(policyFile, policy);
  const [port, healthPort] = [await freePort(), await freePort()];
  const ports = { GOV_PORT: String(port), GOV_HEALTH_PORT: String(healthPort) };
  const component = new Component({
    name,
    logFile: join(scratch, `${name}.log`),
    main: mainOf(dirs['governance-kernel']),
    readyUrl: `http://127.0.0.1:${healthPort}/health/ready`,
    env: { ...upstreamTimeout, ...env, ...ports, GOV_POLICY_FILE: policyFile },
  });
  return { component, url: `http://127.0.0.1:${port}` };
}

export async function gatewayPart({ scratch, env, name, workers, dirs = serviceDirs }: GatewayWiring): Promise<Wired> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const component = new Component({
    name,
    logFile: join(scratch, `${name}.log`),
    main: mainOf(dirs.gateway),
    readyUrl: `${url}/health/ready`,
    env: { ...env, GOV_GATEWAY_PORT: String(port), GOV_RUN_WORKERS: workers },
  });
  return { component, url };
}

export function mainOf(serviceDir: string): string {
  return `${serviceDir}/dist/main.js`;
}
