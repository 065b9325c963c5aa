import type { EffectLevel, TenantId } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';

/** A tool in the name space of a declared server. For a tool that the server does not list, the facts deny the call. */
type ResolvedTool = {
  kind: 'registered';
  /** Its canonical name, `server.tool`. */
  tool: string;
  /** `null` when the registry does not declare it. */
  effectLevel: EffectLevel | null;
  /** The destination of its calls. `null` for a program on this machine. */
  host: string | null;
  /** The key of its server in the registry. The default is the name of the server. */
  serverKey?: string;
  registry: Fact<RegistryFact>;
};

/** A name that people could mistake for this declared server, another of its tools, or tools of several servers. */
type LookAlike = { kind: 'look_alike'; serverId: string };

export type ToolResolution = ResolvedTool | LookAlike;

/** Resolves the tools of all declared servers. A server that does not answer in time is unavailable. */
export type ToolResolver = {
  /**
   * Resolves a canonical name (`files.read`) or an alias: `files__read`, `mcp__files__read`, and `files_read` when
   * that is a registered tool. `null` when the tool belongs to the caller and to no declared server. Returned
   * synchronously when no alias is possible.
   */
  resolve(name: string, tenant: TenantId): Promise<ToolResolution | null> | null;
  /** A resolver for the calls of one answer. Each server is queried once, and the total wait is bounded. */
  forOneAnswer(): Pick<ToolResolver, 'resolve'>;
  /** The known servers of tenant and installation with their states. Absent for a resolver without servers. */
  versionOf?(tenant: TenantId): string;
  /** Reads the servers for the first call of a tenant at this kernel. `null` when they were read before. */
  firstRead?(tenant: TenantId): Promise<void> | null;
  /** Reads the servers again. */
  reload?(tenant: TenantId): Promise<void>;
};
