import {
  commercialConfigFrom,
  commercialQueues,
  commercialVariables,
  startCommercialGateway,
} from '@countersign/commercial-gateway';
import {
  controlPlaneConfigFrom,
  controlPlaneQueues,
  controlPlaneVariables,
  startControlPlane,
} from '@countersign/control-plane';
import { gatewayConfigFrom, gatewayQueues, gatewayVariables, startGateway } from '@countersign/gateway';
import { kernelConfigFrom, kernelQueues, kernelVariables, startKernel } from '@countersign/governance-kernel';
import type { InProcessBus } from '@countersign/messaging';
import { createLogger, type Environment, type Lifecycle, type StartedService } from '@countersign/service-kit';
import type { ServiceName } from '@countersign/services';
import type { z } from 'zod';
import { withKernelLines } from './kernel-lines.ts';
import type { LocalEnvironment } from './local-environment.ts';
import {
  commercialEnvironment,
  controlPlaneEnvironment,
  gatewayEnvironment,
  kernelEnvironment,
} from './local-environment.ts';

/** Resources that all services of one process share. */
type Shared = { lifecycle: Lifecycle; bus?: InProcessBus };

type LocalService = {
  /** Variables that the service reads. */
  variables: z.ZodObject;
  environment: LocalEnvironment;
  /** Throws ConfigError when the service could not start with this environment. */
  configFrom(env: Environment): object;
  /** Queues that the service consumes. */
  queues(exchange: string): Readonly<Record<string, string>>;
  start(env: Environment, shared: Shared): Promise<StartedService<unknown>>;
};

/** How `make up` runs each service of the register. */
export const localServices = {
  'governance-kernel': {
    variables: kernelVariables,
    environment: kernelEnvironment,
    configFrom: kernelConfigFrom,
    queues: kernelQueues,
    start: (env: Environment, shared: Shared) => {
      const config = kernelConfigFrom(env);
      const log = createLogger({ service: 'governance-kernel', ...config.log });
      return startKernel(config, { ...shared, log: withKernelLines(log, (text) => void process.stdout.write(text)) });
    },
  },
  gateway: {
    variables: gatewayVariables,
    environment: gatewayEnvironment,
    configFrom: gatewayConfigFrom,
    queues: gatewayQueues,
    start: (env: Environment, shared: Shared) => startGateway(gatewayConfigFrom(env), shared),
  },
  'control-plane': {
    variables: controlPlaneVariables,
    environment: controlPlaneEnvironment,
    configFrom: controlPlaneConfigFrom,
    queues: controlPlaneQueues,
    start: (env: Environment, shared: Shared) => startControlPlane(controlPlaneConfigFrom(env), shared),
  },
  'commercial-gateway': {
    variables: commercialVariables,
    environment: commercialEnvironment,
    configFrom: commercialConfigFrom,
    queues: commercialQueues,
    start: (env: Environment, shared: Shared) => startCommercialGateway(commercialConfigFrom(env), shared),
  },
} as const satisfies Record<ServiceName, LocalService>;

export type StartedServices = {
  readonly [Name in ServiceName]: Awaited<ReturnType<(typeof localServices)[Name]['start']>>;
};
