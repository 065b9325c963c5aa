/** The version of this build. All services of one build share it. */
export const build = { version: '0.1.0', commit: 'development' } as const;
