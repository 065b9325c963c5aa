/** The name and version of the governed MCP server. */
export const mcpServerInfo = { name: 'countersign', version: '0.1.0' } as const;
/** The supported protocol versions, newest first. */
export const mcpProtocolVersions = ['2026-07-28', '2025-11-25'] as const;
