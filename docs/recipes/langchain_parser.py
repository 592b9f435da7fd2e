"""LangChain: the gate as an output parser, at the end of a chain; and `ask`, where the chain shall ask again."""

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.prompts import ChatPromptTemplate
from order import Order
from seamgate import AskResult, ResultParser, ask

gate = ResultParser()


class OrderParser(BaseOutputParser[Order]):
    def parse(self, text: str) -> Order:
        result = gate.parse_with_schema(Order, text)
        if not result:
            # LangChain's agents send the observation to the model.
            raise OutputParserException(result.feedback, result.feedback, text, send_to_llm=True)
        return result.data

    def get_format_instructions(self) -> str:
        return gate.describe_schema(Order)


def chain(model: BaseChatModel, mail: str) -> Order:
    parser = OrderParser()
    prompt = ChatPromptTemplate.from_template("Which order is in this mail?\n{mail}\n\n{wanted}")
    order: Order = (prompt | model | parser).invoke({"mail": mail, "wanted": parser.get_format_instructions()})
    return order


def asked_again(model: BaseChatModel, mail: str) -> AskResult[Order]:
    return ask(Order, model.invoke, f"Which order is in this mail?\n{mail}", contract={"retry": {"limit": 2}})
