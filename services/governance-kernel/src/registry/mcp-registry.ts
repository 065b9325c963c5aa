import type { Digest, EffectLevel } from '@countersign/contracts';
import type { HiddenTool } from '@countersign/contracts/governance-kernel';
import type { RegistryFact } from '@countersign/policy';
import type { PinnedDefinition } from './tool-definition.ts';

export type ServerState = RegistryFact['state'];

export type ObservedTool = { name: string; hash: Digest; definition: PinnedDefinition; effectLevel: EffectLevel };

/** A tool in the registry, by the key of its server. `definition` is the pinned one while there is a pin. */
export type RegisteredTool = {
  serverId: string;
  toolName: string;
  pinnedHash: Digest | null;
  currentHash: Digest;
  definition: PinnedDefinition;
  effectLevel: EffectLevel;
  /** Whether the server no longer lists the tool. */
  isGone: boolean;
};

export type McpRegistry = {
  /** Records the live definitions, and which tools are gone. Pins nothing. */
  recordTools(serverId: string, tools: readonly ObservedTool[], hidden: readonly HiddenTool[]): Promise<void>;
  findServer(serverId: string): Promise<{ state: ServerState; tools: RegisteredTool[] } | null>;
  findTool(address: {
    serverId: string;
    toolName: string;
  }): Promise<{ state: ServerState; tool: RegisteredTool | null } | null>;
};
