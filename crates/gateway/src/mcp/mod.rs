//! Tools for agents, spoken as MCP: recall and search what was removed, see how the session stands, pin what must stay.
//!
//! The same tools are served on standard input and output ([`serve_stdio`]) and by the gateway at `/foldline/mcp`. They keep no
//! state between calls: handles travel in arguments. A pin needs no store either: its call stands in the conversation, and
//! every fold reads it there.

mod arguments;
mod call;
mod schema;
mod status;

use crate::conversation::{Conversations, Whom};
use foldline_core::reading::{Reach, Way};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};

/// How we introduce ourselves.
const NAME: &str = "foldline";
/// What a client may tell its model about the tools.
const INSTRUCTIONS: &str = "Older parts of long conversations are folded into handoffs and large outputs are reduced; both name \
                            handles such as fl-3f9a0c51d2e7. foldline_recall shows what a handle stands for, foldline_search \
                            finds words in everything that was removed.";

/// The tools, for somebody.
#[derive(Clone, Debug)]
pub struct Tools {
    conversations: Conversations,
    whom: Whom,
}

impl Tools {
    /// The tools for a client of the gateway, or for the owner of the store.
    pub fn new(conversations: Conversations, whom: Whom) -> Tools {
        Tools { conversations, whom }
    }

    /// How answers name the next call. Clients put words of their own before names of tools; a model finds it by the end.
    fn way() -> Way {
        Way::of(Reach::Tool(schema::RECALL.to_owned()))
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(NAME, env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(schema::tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        schema::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool {}", request.name), None));
        }
        let tools = self.clone();
        // The store may block.
        let answered =
            tokio::task::spawn_blocking(move || tools.answer(&request.name, &request.arguments.unwrap_or_default()));
        let text = |text: String| vec![ContentBlock::text(text)];
        Ok(match answered.await {
            Ok(Ok(told)) => CallToolResult::success(text(told)),
            Ok(Err(refused)) => CallToolResult::error(text(refused)),
            Err(_) => CallToolResult::error(text("the store could not be read".to_owned())),
        }
        .into())
    }
}

/// Serves the tools on standard input and output, until input ends. The error says why it could not begin.
pub async fn serve_stdio(tools: Tools) -> Result<(), String> {
    let running = tools.serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}
