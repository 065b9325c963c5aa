import { startStandardService, type Lifecycle, type StartedService } from '@countersign/service-kit';
import { createApp } from './app.ts';
import type { ControlPlaneConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { tellCatalogue } from './connectors/tell-catalogue.ts';
import { startAccessListener } from './workers/access-listener.ts';
import { startConfirmer } from './workers/confirmer.ts';
import { startEntitlementListener } from './workers/entitlement-listener.ts';
import { startGlassListener } from './workers/glass-listener.ts';
import { startHostDriftListener } from './workers/host-drift-listener.ts';
import { startHintListener } from './workers/hint-listener.ts';
import { startReporter } from './workers/reporter.ts';
import { startCourier } from './workers/courier.ts';
import { startPlacer } from './workers/placer.ts';
import { startShadower } from './workers/shadower.ts';
import { startSweeper } from './workers/sweeper.ts';
import { startWatcher } from './workers/watcher.ts';

export type StartedControlPlane = StartedService<Context>;

type StartOptions = ContextOverrides & {
  lifecycle?: Lifecycle;
  /** The interval of the confirmer and the watcher. Each has its own by default. */
  passMs?: number;
};

/** Starts the service in this process. The schema must have been migrated. */
export function startControlPlane(
  config: ControlPlaneConfig,
  { lifecycle, passMs, ...overrides }: StartOptions = {},
): Promise<StartedControlPlane> {
  return startStandardService({
    name: 'control-plane',
    title: 'control plane',
    config,
    lifecycle,
    createContext: (telemetry) => createContext(config, telemetry, overrides),
    workers: (context) => ({
      catalogue: () => tellCatalogue(context),
      sweeper: () => startSweeper(context),
      reporter: () => startReporter(context),
      confirmer: () => startConfirmer(context, passMs),
      shadower: () => startShadower(context),
      courier: () => startCourier(context),
      placer: () => startPlacer(context),
      watcher: () => startWatcher(context, passMs),
      hints: () => startHintListener(context),
      glass: () => startGlassListener(context),
      hostDrift: () => startHostDriftListener(context),
      entitlements: () => startEntitlementListener(context),
      access: () => startAccessListener(context),
    }),
    app: createApp,
  });
}
