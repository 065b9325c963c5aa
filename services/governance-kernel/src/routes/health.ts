import { healthz, version } from '@countersign/contracts/governance-kernel';
import { build, handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';

/** Liveness only. /health/ready reports all other faults. */
export const healthzRoute = (_kernel: Context) =>
  handlePublic(healthz)(() => ({ status: 'ok', version: build.version }));

export const versionRoute = ({ rosterHash }: Context) =>
  handlePublic(version)(() => ({
    service: 'governance-kernel',
    ...build,
    node_version: process.version,
    gate_roster_hash: rosterHash,
  }));
