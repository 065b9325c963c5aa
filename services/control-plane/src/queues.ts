/** The queues that this service consumes. */
export function controlPlaneQueues(exchange: string) {
  return {
    hints: `${exchange}.control-plane.hints`,
    glass: `${exchange}.control-plane.glass`,
    hostDrift: `${exchange}.control-plane.host-drift`,
    entitlements: `${exchange}.control-plane.entitlements`,
    access: `${exchange}.control-plane.access`,
  };
}
