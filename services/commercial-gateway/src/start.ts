import { startStandardService, type Lifecycle, type StartedService } from '@countersign/service-kit';
import { createApp } from './app.ts';
import type { CommercialConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { startBillingCycle } from './workers/billing-cycle.ts';
import { startReportBuilder } from './workers/report-builder.ts';
import { startDirectoryListener } from './workers/directory-listener.ts';
import { startDirectorySync } from './workers/directory-sync.ts';
import { startLaneCourier } from './workers/lane-courier.ts';
import { startLimitCourier } from './workers/limit-courier.ts';
import { startPersonPublisher } from './workers/person-publisher.ts';
import { startReceiptMeter } from './workers/receipt-meter.ts';
import { startSweeper } from './workers/sweeper.ts';

export type StartedCommercialGateway = StartedService<Context>;

type StartOptions = ContextOverrides & {
  lifecycle?: Lifecycle;
  /** The interval of the receipt meter. */
  meterMs?: number;
  /** The interval of the billing cycle. */
  billingMs?: number;
};

/** Starts the service in this process. The schema must have been migrated. */
export function startCommercialGateway(
  config: CommercialConfig,
  { lifecycle, meterMs, billingMs, ...overrides }: StartOptions = {},
): Promise<StartedCommercialGateway> {
  return startStandardService({
    name: 'commercial-gateway',
    title: 'commercial gateway',
    config,
    lifecycle,
    createContext: (telemetry) => createContext(config, telemetry, overrides),
    workers: (context) => ({
      directory: () => startDirectoryListener(context),
      directorySync: () => startDirectorySync(context),
      personPublisher: () => startPersonPublisher(context),
      receiptMeter: () => startReceiptMeter(context, meterMs),
      billingCycle: () => startBillingCycle(context, billingMs),
      sweeper: () => startSweeper(context),
      laneCourier: () => startLaneCourier(context),
      limitCourier: () => startLimitCourier(context),
      reportBuilder: () => startReportBuilder(context),
    }),
    app: createApp,
  });
}
