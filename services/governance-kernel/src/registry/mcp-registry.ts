import type { Digest, EffectLevel } from '@countersign/contracts';
import type { HiddenTool } from '@countersign/contracts/governance-kernel';
import type { RegistryFact } from '@countersign/policy';
import type { PinnedDefinition } from './tool-definition.ts';

export type ServerState = RegistryFact['state'];

export type ObservedTool = { name: string; hash: Digest; definition: PinnedDefinition; effectLevel: EffectLevel };

/** One tool as the registry holds it, under the key of its server. `definition` is the pinned one as long as there is a pin. */
export type RegisteredTool = {
  serverId: string;
  toolName: string;
  pinnedHash: Digest | null;
  currentHash: Digest;
  definition: PinnedDefinition;
  effectLevel: EffectLevel;
  /** Its server lists it no longer. */
  isGone: boolean;
};

export type McpRegistry = {
  /** A declaration approves a server that is not known yet. It never changes the state of a known one. */
  declareServer(server: { serverId: string; transport: string; config: Record<string, unknown> }): Promise<void>;
  /** Pins everything at the first sight of a declared server; later only notes what the live definitions are, and which tools are gone. */
  recordTools(serverId: string, tools: readonly ObservedTool[], hidden: readonly HiddenTool[]): Promise<void>;
  findServer(serverId: string): Promise<{ state: ServerState; tools: RegisteredTool[] } | null>;
  findTool(address: {
    serverId: string;
    toolName: string;
  }): Promise<{ state: ServerState; tool: RegisteredTool | null } | null>;
};
