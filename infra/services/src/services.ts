type ServiceRow = {
  /** Name of the folder in `services/`, the package and the image. */
  readonly name: string;
  /** Display name. */
  readonly title: string;
  /** PostgreSQL schema. Its upper-case name is the prefix of variables of deployment jobs and of `local.env`. */
  readonly schema: string;
  /** Login role of the service in PostgreSQL. `<role>_owner` runs its migrations. */
  readonly role: string;
  /** Host name of the service in compose, and container in Kubernetes. */
  readonly container: string;
  /** Ports in images and deployments. The kernel has the only health port that `make up` opens. */
  readonly ports: { readonly main: number; readonly health: number };
  /** Variable of `make up` for the main port. */
  readonly portVariable: string;
};

/** All services, in the order in which `make up` starts them. */
export const services = [
  {
    name: 'governance-kernel',
    title: 'kernel',
    schema: 'kernel',
    role: 'countersign_kernel',
    container: 'kernel',
    ports: { main: 8080, health: 8081 },
    portVariable: 'GOV_PORT',
  },
  {
    name: 'gateway',
    title: 'gateway',
    schema: 'gateway',
    role: 'countersign_gateway',
    container: 'gateway',
    ports: { main: 3100, health: 3101 },
    portVariable: 'GATEWAY_PORT',
  },
  {
    name: 'control-plane',
    title: 'control plane',
    schema: 'control_plane',
    role: 'countersign_control_plane',
    container: 'control-plane',
    ports: { main: 3200, health: 3201 },
    portVariable: 'CONTROL_PLANE_PORT',
  },
  {
    name: 'commercial-gateway',
    title: 'commercial gateway',
    schema: 'commercial',
    role: 'countersign_commercial',
    container: 'commercial-gateway',
    ports: { main: 3300, health: 3301 },
    portVariable: 'COMMERCIAL_PORT',
  },
] as const satisfies readonly ServiceRow[];

export type ServiceName = (typeof services)[number]['name'];

export const serviceNames: readonly ServiceName[] = services.map(({ name }) => name);

/** Prefix of the variables of this service in deployment jobs and in `local.env`. */
export function prefixOf<Schema extends string>({ schema }: { schema: Schema }): Uppercase<Schema> {
  return schema.toUpperCase() as Uppercase<Schema>; // TypeScript types toUpperCase() as string
}
