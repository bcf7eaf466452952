//! transport-mcp
