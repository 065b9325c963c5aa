import { freePort } from '@countersign/local';

/** Unused ports for a system that a person starts. */
export async function freePorts() {
  return {
    GATEWAY_PORT: await unused(),
    CONSOLE_PORT: await unused(),
    CONTROL_PLANE_PORT: await unused(),
    COMMERCIAL_PORT: await unused(),
    GOV_PORT: await unused(),
    GOV_HEALTH_PORT: await unused(),
  };
}

async function unused(): Promise<string> {
  return String(await freePort());
}
