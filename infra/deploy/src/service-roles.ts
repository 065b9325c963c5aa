/** The schema of each service and the role that it logs in with; `<role>_owner` runs its migrations. */
export const serviceRoles = {
  'governance-kernel': { schema: 'kernel', role: 'countersign_kernel' },
  gateway: { schema: 'gateway', role: 'countersign_gateway' },
  'control-plane': { schema: 'control_plane', role: 'countersign_control_plane' },
} as const;

export type DeployedService = keyof typeof serviceRoles;
