"""LangChain: the gate as an output parser, at the end of a chain; and `ask`, where the chain shall ask again."""

from langchain_core.language_models import BaseChatModel
from langchain_core.prompts import ChatPromptTemplate
from order import Order
from seamgate import AskResult, ask
from seamgate.langchain import ContractOutputParser


def chain(model: BaseChatModel, mail: str) -> Order:
    parser = ContractOutputParser(Order)
    prompt = ChatPromptTemplate.from_template("Which order is in this mail?\n{mail}\n\n{wanted}")
    order: Order = (prompt | model | parser).invoke({"mail": mail, "wanted": parser.get_format_instructions()})
    return order


def asked_again(model: BaseChatModel, mail: str) -> AskResult[Order]:
    return ask(Order, model.invoke, f"Which order is in this mail?\n{mail}", contract={"retry": {"limit": 2}})
