/** How the governed MCP server names itself. */
export const mcpServerInfo = { name: 'countersign', version: '0.1.0' } as const;
/** Newest first. Older revisions of the 2025 era are negotiated down to by their clients. */
export const mcpProtocolVersions = ['2026-07-28', '2025-11-25'] as const;
